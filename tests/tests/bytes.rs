//! Sources that are not plain UTF-8 with line feeds: every byte outside the patch survives.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{BUGGY, Repo, TEST, Venv};

/// Fixes `calc.py` with the given bytes and checks that exactly the operator changed.
fn check(source: &[u8]) {
    let repo = Repo::new(&[("test_calc.py", TEST)]);
    // Otherwise the developer's settings decide what git makes of line endings.
    repo.write(".gitattributes", "*.py -text\n");
    repo.write("calc.py", source);
    repo.commit();
    let run = repo.fix().test("test_calc.py").args(["--apply"]);
    let run = run.run_changing(&["calc.py"]);
    run.is_fixed();
    let at = find(source, b"-=").unwrap();
    let mut wanted = source.to_vec();
    wanted[at] = b'+';
    assert_eq!(
        String::from_utf8_lossy(&repo.read("calc.py")),
        String::from_utf8_lossy(&wanted)
    );
    assert_eq!(repo.read("calc.py"), wanted);
    // git makes the same of the diff.
    assert!(repo.tests_pass_with(&run.stdout, Venv::Plain.python(), &[]));
    repo.git(&["checkout", "-q", "calc.py"]);
    std::fs::write(repo.outside("patch"), &run.stdout).unwrap();
    repo.git(&["apply", repo.outside("patch").as_str()]);
    assert_eq!(repo.read("calc.py"), wanted);
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

#[test]
fn carriage_returns_survive() {
    check(BUGGY.replace('\n', "\r\n").as_bytes());
    check(BUGGY.replace('\n', "\r").as_bytes());
}

#[test]
fn a_lone_carriage_return_and_a_form_feed_survive() {
    let source = BUGGY
        .replace(
            "    return total",
            "    _ = 1  # ends here\r    return total",
        )
        .replace("\n\n\ndef mean", "\n\x0c\n\ndef mean");
    check(source.as_bytes());
}

#[test]
fn a_byte_order_mark_survives_and_so_does_a_missing_final_newline() {
    check(format!("\u{feff}{}", BUGGY.trim_end()).as_bytes());
}

#[test]
fn latin_1_survives() {
    let mut source = b"# -*- coding: latin-1 -*-\nNAME = '\xe9t\xe9 \xff'\n\n\n".to_vec();
    source.extend(BUGGY.replace("-= price", "-= price  # caf\u{1}").bytes());
    let at = find(&source, b"\x01").unwrap();
    source[at] = b'\xe9';
    check(&source);
}

#[test]
fn a_source_that_cannot_be_decoded_is_named_and_left_alone() {
    let repo = Repo::new(&[("test_calc.py", TEST)]);
    let mut source = b"# -*- coding: ascii -*-\nNAME = '\xe9'\n".to_vec();
    source.extend(BUGGY.bytes());
    repo.write("calc.py", source);
    repo.commit();
    let run = repo.fix().test("test_calc.py").run();
    run.ends_with(1).says("calc.py");
}

#[test]
fn a_source_of_ten_megabytes_is_named_and_not_searched() {
    let table = format!("# a line of a long table {:=<64}\n", "").repeat(120_000);
    let repo = Repo::new(&[("test_calc.py", TEST)]);
    repo.write("calc.py", format!("{BUGGY}\n\n{table}"));
    repo.commit();
    assert!(repo.read("calc.py").len() > 10_000_000);
    let run = repo.fix().test("test_calc.py").run();
    run.ends_with(1).says("`calc.py` is too large to search");
}
