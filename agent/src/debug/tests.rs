//! The debugger over a small recording made by hand, whose every event is known.

use ndbg_simulator::recording::{
    ActivationId, Change, CodeFlags, CodeId, Entry, FileId, FrameId, Leave, Record,
    RecordingBuilder, TaskId, TextId,
};
use ndbg_tools::trace::{Meta, Opened, VERSION};

use super::debugger::Debugger;
use super::repl;

const SOURCE: &str = "\
def fill(box, n):
    box.append(n)
    return len(box)

def main():
    items = []
    total = 0
    for n in (1, 2):
        total += fill(items, n)
    return total
";

/// Numbers texts in the order of their first use.
struct Maker {
    builder: RecordingBuilder,
    texts: Vec<String>,
    calls: u32,
}

impl Maker {
    fn text(&mut self, text: &str) -> TextId {
        if let Some(at) = self.texts.iter().position(|held| held == text) {
            return TextId(at as u32);
        }
        self.texts.push(text.to_owned());
        self.builder
            .push(Record::Text {
                text: text.into(),
                lossy: false,
            })
            .unwrap();
        TextId(self.texts.len() as u32 - 1)
    }

    /// `name=value` or `name=value#serial`, separated by blanks.
    fn changes(&mut self, text: &str) -> Vec<Change> {
        text.split_whitespace()
            .map(|word| {
                let (name, value) = word.split_once('=').unwrap();
                let (value, serial) = value.split_once('#').unwrap_or((value, "0"));
                Change {
                    name: self.text(name),
                    value: Some(self.text(value)),
                    serial: serial.parse().unwrap(),
                }
            })
            .collect()
    }

    fn call(&mut self, parent: Option<u32>, code: u32, line: u32, changes: &str) -> u32 {
        let changes = self.changes(changes);
        let id = self.calls;
        self.calls += 1;
        self.builder
            .push(Record::Call {
                frame: FrameId(id),
                parent: parent.map(ActivationId),
                task: TaskId(0),
                code: CodeId(code),
                line,
                entry: Entry::Call,
                changes,
            })
            .unwrap();
        id
    }

    fn line(&mut self, activation: u32, line: u32, changes: &str) {
        let changes = self.changes(changes);
        self.builder
            .push(Record::Line {
                activation: ActivationId(activation),
                line,
                changes,
            })
            .unwrap();
    }

    fn leave(&mut self, activation: u32, line: u32, value: &str, changes: &str) {
        let changes = self.changes(changes);
        let value = self.text(value);
        self.builder
            .push(Record::Return {
                activation: ActivationId(activation),
                line,
                value,
                leave: Leave::Return,
                changes,
            })
            .unwrap();
    }
}

fn recorded() -> Debugger {
    let mut maker = Maker {
        builder: RecordingBuilder::new(),
        texts: Vec::new(),
        calls: 0,
    };
    let (fill, main) = (maker.text("fill"), maker.text("main"));
    maker
        .builder
        .push(Record::File {
            name: "src/box.py".into(),
            text: Some(SOURCE.into()),
        })
        .unwrap();
    for (qualname, first_line) in [(fill, 1), (main, 5)] {
        maker
            .builder
            .push(Record::Code {
                file: FileId(0),
                qualname,
                first_line,
                flags: CodeFlags::default(),
            })
            .unwrap();
    }
    maker
        .builder
        .push(Record::Task("MainThread".into()))
        .unwrap();
    let top = maker.call(None, 1, 5, ""); // 0
    maker.line(top, 6, ""); // 1
    maker.line(top, 7, "items=[]#1"); // 2
    maker.line(top, 8, "total=0"); // 3
    maker.line(top, 9, "n=1"); // 4
    let first = maker.call(Some(top), 0, 1, "box=[]#1 n=1"); // 5
    maker.line(first, 2, ""); // 6
    maker.line(first, 3, "box=[1]#1"); // 7
    maker.leave(first, 3, "1", ""); // 8
    maker.line(top, 8, "items=[1]#1 total=1"); // 9
    maker.line(top, 9, "n=2"); // 10
    let second = maker.call(Some(top), 0, 1, "box=[1]#1 n=2"); // 11
    maker.line(second, 2, ""); // 12
    maker.line(second, 3, "box=[1,2]#1"); // 13
    maker.leave(second, 3, "2", ""); // 14
    maker.line(top, 8, "items=[1,2]#1 total=3"); // 15
    maker.line(top, 10, ""); // 16
    maker.leave(top, 10, "3", ""); // 17
    let recording = maker.builder.finish();
    Debugger::new(Opened {
        meta: Meta {
            format: "ndbg".into(),
            version: VERSION,
            written_by: String::new(),
            what: "script".into(),
            python: "3.11.7".into(),
            command: Vec::new(),
            events: Some(18),
        },
        recording,
        cut_off: None,
        bytes: 0,
    })
    .unwrap()
}

/// Answers to commands, one a line.
fn session(commands: &str) -> String {
    let mut debugger = recorded();
    let mut output = Vec::new();
    repl::piped(&mut debugger, commands.as_bytes(), &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

/// The event at which the debugger stands after commands.
fn at(commands: &str) -> u32 {
    let mut debugger = recorded();
    repl::piped(&mut debugger, commands.as_bytes(), &mut Vec::new()).unwrap();
    debugger.position().0
}

#[test]
fn steps_go_into_calls_and_next_goes_over_them() {
    assert_eq!(at("goto 4\ns"), 5);
    assert_eq!(at("goto 4\nn"), 9);
    assert_eq!(at("goto 8\nn"), 9, "after a return the caller goes on");
    assert_eq!(at("goto 6\nr"), 8);
    assert_eq!(at("goto 8\nr"), 8, "a return is where it is");
    assert_eq!(at("goto 17\ns"), 17, "nothing follows the end");
    assert_eq!(at("s 3"), 3);
    assert_eq!(at("s\n\n\n"), 3, "an empty line repeats the step");
}

#[test]
fn every_step_has_its_reverse() {
    for event in 0..17 {
        assert_eq!(at(&format!("goto {event}\ns\nrs")), event);
    }
    assert_eq!(at("goto 9\nrs"), 8);
    assert_eq!(at("goto 9\nrn"), 4);
    assert_eq!(
        at("goto 5\nrn"),
        4,
        "before a call lies the line that called"
    );
    assert_eq!(at("goto 8\nrr"), 5);
    assert_eq!(at("goto 16\nrr"), 0);
    assert_eq!(at("rs"), 0);
}

#[test]
fn continue_stops_at_breakpoints_in_both_directions() {
    assert_eq!(at("b 9\nc"), 4);
    assert_eq!(at("b 9\nc\nc"), 10);
    assert_eq!(at("b box.py:2\ngoto 17\nrc"), 12);
    assert_eq!(at("b fill\nc\nc"), 11);
    assert_eq!(at("b fill if n == 2\nc"), 11);
    assert_eq!(at("b if total > 0\nc"), 9);
    assert_eq!(at("b if total == 1\ngoto 17\nrc"), 10);
    assert_eq!(at("c"), 17);
    assert_eq!(at("goto 9\nrc"), 0);
    assert_eq!(at("b 9\ncl 1\nc"), 17);
    assert!(session("b 9").contains("(2 in the recording)"));
    assert!(session("b nothing").contains("no function `nothing`"));
    assert!(session("b nofile.py:3").contains("no file `nofile.py`"));
}

#[test]
fn find_stops_where_an_expression_becomes_true() {
    assert_eq!(at("find total == 1"), 9);
    assert_eq!(
        at("find total == 1\nfind"),
        9,
        "it stays true, and becomes so once"
    );
    assert_eq!(at("find n == 2"), 10);
    assert_eq!(
        at("find n == 2\nfind"),
        11,
        "in another frame it becomes true there"
    );
    assert_eq!(at("find len(box) == 2"), 13);
    assert_eq!(at("find $event == 'return' and $value == 2"), 14);
    assert_eq!(at("goto 17\nrfind total == 0"), 3);
    assert!(session("find total == 99").contains("becomes true nowhere after here"));
}

#[test]
fn an_expression_that_does_not_parse_is_marked_at_its_column() {
    let said = session("find total = 3");
    assert!(
        said.contains("  find total = 3\n             ^ comparing is `==`\n"),
        "{said}"
    );
    let said = session("b 9 if n >");
    assert!(
        said.contains("  b 9 if n >\n            ^ a value is missing\n"),
        "{said}"
    );
}

#[test]
fn why_names_the_last_write() {
    let said = session("goto 16\nwhy total");
    assert!(
        said.contains("total = 3\nwas written by event 10,"),
        "{said}"
    );
    assert!(said.contains("before: 1\n"), "{said}");
    let said = session("goto 9\nwhy items");
    assert!(
        said.contains("was changed in place, as `box`, by event 6, fill"),
        "{said}"
    );
    let said = session("goto 6\nwhy n");
    assert!(
        said.contains("is an argument; it was passed by event 4, main"),
        "{said}"
    );
    assert!(session("why total").contains("is not bound in this frame"));
}

#[test]
fn frames_are_selected_with_up_and_down() {
    let said = session("goto 6\nw\nu\np n\np total\nd\np box\nd");
    assert!(
        said.contains("  main (src/box.py:9)\n    total += fill(items, n)\n> fill (src/box.py:2)"),
        "{said}"
    );
    assert!(said.contains("(ndbg) p total\n0\n"), "{said}");
    assert!(said.contains("(ndbg) p box\n[]\n"), "{said}");
    assert!(said.contains("this is the innermost frame"), "{said}");
    assert!(session("u").contains("no recorded caller"));
}

#[test]
fn a_caller_sees_what_a_callee_did_to_its_object() {
    let said = session("goto 7\nu\np items\np");
    assert!(said.contains("(ndbg) p items\n[1]\n"), "{said}");
    assert!(said.contains("items = [1]  #1\n"), "{said}");
    let said = session("goto 6\nu\np items");
    assert!(said.contains("(ndbg) p items\n[]\n"), "{said}");
}

#[test]
fn what_cannot_be_told_is_counted() {
    let said = session("find total.gone == 1");
    assert!(
        said.contains("becomes true nowhere after here;\nat"),
        "{said}"
    );
    assert!(
        said.contains("attributes of `int` are not recorded"),
        "{said}"
    );
    let said = session("b 9 if n.gone == 1");
    assert!(
        said.contains("(0 in the recording)\nat 2 events the condition"),
        "{said}"
    );
    let said = session("find nobody == 1");
    assert!(!said.contains("could not be told"), "{said}");
    assert!(session("why items[0]").contains("takes the name of a variable"));
}

#[test]
fn a_stop_shows_what_changed() {
    let said = session("goto 9");
    assert!(
        said.contains("9 of 18  line in main (src/box.py:8)\n->     for n in (1, 2):\n   items = [1]  #1  (was [])\n   total = 1  (was 0)\n"),
        "{said}"
    );
}

#[test]
fn wrong_commands_say_what_is_wrong() {
    assert!(session("xyzzy").contains("no command `xyzzy`"));
    assert!(session("goto 99").contains("they go from 0 to 17"));
    assert!(session("s x").contains("`x` is no number"));
    assert!(session("w now").contains("`w` takes no argument"));
    assert!(session("h nope").contains("no command `nope`"));
    assert!(session("h find").contains("$exception"));
    assert_eq!(at("# a remark\n\nq\ns"), 0);
}

#[test]
fn the_tree_shows_calls_with_arguments_and_results() {
    let said = session("t");
    assert!(said.contains("0  main() -> 3\n"), "{said}");
    assert!(said.contains("5    fill(box=[], n=1) -> 1\n"), "{said}");
    assert!(said.contains("11    fill(box=[1], n=2) -> 2\n"), "{said}");
}

#[test]
fn completion_knows_commands_variables_and_places() {
    let mut debugger = recorded();
    repl::piped(&mut debugger, "goto 9".as_bytes(), &mut Vec::new()).unwrap();
    let completion = super::complete::Completion::at(&debugger);
    assert!(
        completion
            .candidates("rfi", 3)
            .1
            .contains(&"rfind".to_owned())
    );
    assert_eq!(completion.candidates("p to", 4), (2, vec!["total".into()]));
    assert_eq!(completion.candidates("b fi", 4), (2, vec!["fill".into()]));
    assert_eq!(
        completion.candidates("find len(it", 11),
        (9, vec!["items".into()])
    );
}
