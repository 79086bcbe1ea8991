//! Real files: nothing panics, and nearly everything compiles.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::plan::search::canonical::{Canonical, apply};
use crate::plan::search::generate::generate;
use crate::plan::search::operators::OPERATORS;
use crate::plan::search::operators::testing::uniform_facts;
use crate::plan::search::{SearchOptions, SearchPlanner};
use crate::plan::{Facts, Planner as _};

/// Files of the standard library, of many styles.
const MODULES: &[&str] = &[
    "argparse",
    "ast",
    "asyncio.base_events",
    "asyncio.tasks",
    "bdb",
    "bisect",
    "calendar",
    "cmd",
    "codecs",
    "collections",
    "colorsys",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "enum",
    "fractions",
    "functools",
    "glob",
    "gettext",
    "graphlib",
    "heapq",
    "html.parser",
    "http.client",
    "imaplib",
    "inspect",
    "ipaddress",
    "json.decoder",
    "json.encoder",
    "locale",
    "logging",
    "mailbox",
    "operator",
    "optparse",
    "pathlib",
    "pdb",
    "pickle",
    "pprint",
    "queue",
    "random",
    "re",
    "sched",
    "shlex",
    "shutil",
    "smtplib",
    "statistics",
    "string",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "traceback",
    "types",
    "typing",
    "unittest.mock",
    "urllib.parse",
    "uuid",
    "weakref",
    "xml.dom.minidom",
    "zipfile",
];

const COMPILE: &str = "
import sys, json, warnings
warnings.simplefilter('ignore')
for line in sys.stdin:
    text = json.loads(line)
    try:
        compile(text, 'a.py', 'exec', dont_inherit=True)
        print('ok')
    except (SyntaxError, ValueError) as error:
        where = (getattr(error, 'text', None) or '').strip()
        print(f'{error.msg if isinstance(error, SyntaxError) else error}: {where}'.replace('\\n', ' '))
    sys.stdout.flush()
";

fn library() -> Option<Vec<(String, String)>> {
    // Frozen modules have no file.
    let script = format!(
        "import importlib.util, json\nfor name in {MODULES:?}:\n    spec = importlib.util.find_spec(name)\n    if spec and spec.origin.endswith('.py'):\n        print(json.dumps([name, open(spec.origin, encoding='utf-8', newline='').read()]))\n"
    );
    let output = Command::new("python3")
        .args(["-c", &script])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let files: Vec<(String, String)> = text
        .lines()
        .filter_map(|l| serde_json::from_str(l).ok())
        .collect();
    (!files.is_empty()).then_some(files)
}

/// What Python says about each text: `ok` or the error.
fn compile(texts: &[String]) -> Vec<String> {
    let mut child = Command::new("python3")
        .args(["-c", COMPILE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: Vec<String> = texts
        .iter()
        .map(|t| serde_json::to_string(t).unwrap())
        .collect();
    let writer = std::thread::spawn(move || {
        for line in lines {
            stdin.write_all(line.as_bytes()).unwrap();
            stdin.write_all(b"\n").unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

fn edited(source: &str, edits: &[ndbg_tools::source::Edit]) -> String {
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|e| e.start);
    let mut text = source.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.start..edit.end, &edit.text);
    }
    text
}

/// Every `each`-th candidate of what `facts` suspect, as whole files.
fn sample(facts: &Facts, each: usize) -> (usize, Vec<(String, String)>) {
    let source = facts
        .files
        .values()
        .next()
        .map(|s| s.file().text().to_owned())
        .unwrap_or_default();
    let mut planner = SearchPlanner::new(SearchOptions {
        max_functions: usize::MAX,
        pairs: false,
        ..SearchOptions::default()
    });
    let mut out = Vec::new();
    let mut count = 0;
    loop {
        let some = planner.propose(facts, &[], 512).unwrap();
        if some.is_empty() {
            return (count, out);
        }
        for candidate in some {
            if count % each == 0 {
                out.push((
                    candidate.operator.clone(),
                    edited(&source, &candidate.edits),
                ));
            }
            count += 1;
        }
    }
}

/// About `wanted` candidates from all over the ranking, as whole files, and how many drafts there
/// were.
fn pick(facts: &Facts, wanted: usize) -> (usize, Vec<(String, String)>) {
    let drafts = generate(facts, usize::MAX);
    let mut canonical = Canonical::new().unwrap();
    let mut out = Vec::new();
    let Some(syntax) = facts.files.values().next() else {
        return (0, out);
    };
    let text = syntax.file().text();
    for draft in drafts.iter().step_by((drafts.len() / wanted).max(1)) {
        if canonical.fingerprint(0, syntax, &draft.changes).is_some() {
            let edited = apply(text, &(0..text.len()), &draft.changes).unwrap();
            out.push((OPERATORS[draft.operator].name.to_owned(), edited));
        }
    }
    (drafts.len(), out)
}

/// Facts that suspect a few functions of a file, spread over it, and nothing else.
fn spread(name: &str, source: &str, functions: usize) -> Facts {
    let mut facts = uniform_facts(&format!("{name}.py"), source);
    let step = (facts.functions.len() / functions.max(1)).max(1);
    facts.functions = facts
        .functions
        .into_iter()
        .skip(step / 2)
        .step_by(step)
        .filter(|f| f.last_line - f.first_line < 60)
        .take(functions)
        .collect();
    let functions = facts.functions.clone();
    facts.statements.retain(|s| {
        functions
            .iter()
            .any(|f| f.first_line <= s.first_line && s.last_line <= f.last_line)
    });
    facts
}

fn report(samples: &[(String, String)]) -> f64 {
    let texts: Vec<String> = samples.iter().map(|s| s.1.clone()).collect();
    let verdicts = compile(&texts);
    assert_eq!(verdicts.len(), texts.len());
    let mut bad = std::collections::BTreeMap::<String, (usize, String)>::new();
    for ((operator, _), verdict) in samples.iter().zip(&verdicts) {
        if verdict != "ok" {
            let entry = bad.entry(operator.clone()).or_insert((0, verdict.clone()));
            entry.0 += 1;
        }
    }
    for (operator, (count, example)) in &bad {
        println!("{count:>5} {operator:<24} {example}");
    }
    let good = verdicts.iter().filter(|v| *v == "ok").count();
    good as f64 / verdicts.len().max(1) as f64
}

/// A number from the environment, for longer runs than everyday ones.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

#[test]
fn candidates_for_the_standard_library_compile() {
    let Some(files) = library() else {
        println!("skipped: no python3");
        return;
    };
    let functions = setting("NDBG_FUZZ_FUNCTIONS", 2);
    let stride = setting("NDBG_FUZZ_STRIDE", 9);
    let wanted = setting("NDBG_FUZZ_SAMPLES", 80);
    let mut samples = Vec::new();
    let mut total = 0;
    for (name, source) in files.iter().step_by(stride) {
        let (count, some) = pick(&spread(name, source, functions), wanted);
        total += count;
        samples.extend(some);
    }
    let share = report(&samples);
    println!(
        "{total} drafts, {} sampled, {:.2} % compile",
        samples.len(),
        share * 100.0
    );
    assert!(share >= 0.99, "only {:.2} % compile", share * 100.0);
}

/// Odd layouts that real files rarely have.
const ODD: &str = "# comment\n\x0cimport os; import sys\nif True: X = 1; Y = 2\n\ndef one(a, b): return a + b\n\ndef two(a): x = a; y = x + 1; return y\n\n\x0c\ndef three(xs):\n\tfor x in xs: print(x)\n\tif xs: return xs[0]\n\telif not xs: return None\n\telse: return xs\n\ndef four(größe, naïve='é'):\n    '''Döc'''\n    if größe > 1 and \\\n            naïve:\n        return größe + \\\n            1\n    return f'{größe!r:>{10}} {naïve + \"x\"}'\n\n@staticmethod\n@(lambda f: f)\ndef five(*args, k=1, **kwargs):\n    def inner(n=[]):\n        nonlocal k\n        k += 1\n        return [y := n, y**2]\n    return inner(*args, **kwargs)\n\nasync def six(client):\n    async with client as c, c.open() as d:\n        async for row in d:\n            yield await row\n            if (n := len(row)) > 3: break\n        else:\n            pass\n\ndef seven(command):\n    match command.split():\n        case ['go', direction] if direction:\n            return direction\n        case {'x': 0} | [1, *_]:\n            return -1\n        case _:\n            raise ValueError(command)\n\nclass Eight(dict):\n    table = {}\n    async def run(self):\n        return [await x async for x in self if x]\n    lam = lambda self, x=1: (x if x else -x)\n    def last(self): return self.table\n\ndef nine(x):\n    try: return int(x)\n    except (ValueError, TypeError): return None\n    finally: print(x)\n\ndef ten(a, b):\n    with open(a) as f, \\\n         open(b) as g:\n        text = '''\n  multi\n'''\n        return (f.read()  # first\n                + g.read())  # second\n";

#[test]
fn odd_layouts_compile_with_every_line_ending() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    for ending in ["\n", "\r\n"] {
        let source = ODD.replace('\n', ending);
        let (count, samples) = sample(&uniform_facts("odd.py", &source), 2);
        assert!(count > 1000);
        let share = report(&samples);
        println!("{count} candidates, {:.2} % compile", share * 100.0);
        assert!(share >= 0.99, "only {:.2} % compile", share * 100.0);
        if ending == "\r\n" {
            for (operator, text) in &samples {
                assert_eq!(
                    text.matches('\n').count(),
                    text.matches("\r\n").count(),
                    "{operator}"
                );
            }
        }
    }
}

#[test]
fn broken_and_empty_files_do_no_harm() {
    for source in [
        "",
        "\n",
        "def",
        "def f(:\n  return\n",
        "def f():\n",
        "class A:\n    def f(self):\n        return self.\n",
        "x = (1,\n",
        "def f():\n  if x:\n y = 1\n",
        "\u{feff}x = 1",
    ] {
        sample(&uniform_facts("broken.py", source), 1);
    }
}
