//! The laws over recordings of real programs: every `tests/recordings/*.raw`, the recorder's stream
//! with source text in its `F` records. A file that is put there is tested.

use ndbg_simulator::context::scope_source;
use ndbg_simulator::grammar::{cwm, nd, plain_text};
use ndbg_simulator::recording::Recording;
use ndbg_simulator::{Action, CallForest, Destination, Direction, Ending, Exit, Node, Trajectory};

use crate::forward::roots;
use crate::grammar::{check_reader, walks};
use crate::raw_stream;

fn fixtures() -> Vec<(String, Recording)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let raw = files.filter(|path| path.extension().is_some_and(|e| e == "raw"));
    raw.map(|path| {
        let recording = raw_stream::read(&std::fs::read_to_string(&path).unwrap());
        (path.display().to_string(), recording)
    })
    .collect()
}

#[test]
fn recorded_runs_obey_the_laws() {
    let fixtures = fixtures();
    assert!(!fixtures.is_empty());
    for (name, recording) in fixtures {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let mut reversed: Vec<_> = tree
                .inverse_nodes()
                .filter(|n| !n.calling)
                .map(|n| n.event)
                .collect();
            reversed.reverse();
            assert_eq!(reversed, tree.events().collect::<Vec<_>>(), "{name}");
            let every = Trajectory::follow(
                &tree,
                Direction::Forward,
                vec![Action::StepInto; tree.len()],
            );
            assert_eq!(every.unwrap().nodes.len(), tree.len(), "{name}");
            let trace = cwm::trace(&tree, scope_source(&tree), usize::MAX);
            let text = plain_text(&cwm::encode(&trace));
            assert_eq!(cwm::decode(&text).as_ref(), Ok(&trace), "{name}");
        }
        for seed in 0..20 {
            for (tree, walk) in walks(&forest, seed, 200) {
                let trace = nd::trace(&tree, &walk, scope_source(&tree));
                let text = plain_text(&nd::encode(&trace));
                assert_eq!(nd::decode(&text).as_ref(), Ok(&trace), "{name}");
                check_reader(&tree, &walk, &trace);
            }
        }
    }
}

#[test]
fn the_program_is_walked_as_a_debugger_walks_it() {
    let fixtures = fixtures();
    let (_, recording) = fixtures
        .iter()
        .find(|f| f.0.ends_with("program.raw"))
        .unwrap();
    let forest = CallForest::new(recording);
    let tree = forest.tree(forest.roots().next().unwrap());
    assert_eq!(tree.ending(), Ending::Left(Exit::Error));
    let go = |from: Node, action: Action| match tree.step(from, &action).unwrap() {
        Destination::Node(node) => node,
        other => panic!("{other:?}"),
    };
    let source = |node: Node| recording.source_line(node.event);
    let at = |line: &str| Action::Breakpoint(line.to_owned());
    // Each `yield` is a return to the loop that asked.
    let entry = Node::at(tree.entry());
    let yields = go(go(entry, at("        yield i * i")), Action::StepReturn);
    assert_eq!(source(yields), "        yield i * i");
    assert_eq!(source(go(yields, Action::StepOver)), "        s += x");
    // The exception of `pop` passes through `drain`, which handles it.
    let raise = go(entry, at("            raise IndexError('empty')"));
    let unwound = go(raise, Action::StepReturn);
    let handler = go(go(unwound, Action::StepOver), Action::StepOver);
    assert_eq!(source(handler), "    except IndexError as error:");
    // Backwards from the end: what `fails` held before it deleted a name.
    let end = Node::at(tree.last());
    let raised = go(end, Action::InvStepOver);
    let called = go(raised, Action::InvStepOver);
    assert!(called.calling);
    let call = go(go(called, Action::InvStepInto), Action::InvStepCall);
    assert_eq!(source(call), "def fails(word):");
    assert_eq!(
        recording.state(call.event).locals,
        [("word".to_owned(), "'ab'".to_owned())]
    );
}
