//! The calls of a recording as a forest, and its events in the order in which a walk meets them.
//!
//! Nodes are events; the children of an event are the activations that were called during it. The
//! *order* is the preorder of that forest. Wherever calls nest, as they do on one thread, it is the
//! recorded order; events of other threads that ran in between lie elsewhere in it. So the scope of
//! every activation is one range of positions, and most questions are one array access.

use std::sync::OnceLock;

use crate::recording::{ActivationId, EventId, History, Locals, Recording};
use crate::source_lines::SourceLines;
use crate::tree::Tree;

const NONE: u32 = u32::MAX;

/// A recording with the order of its events. Made once, shared by all trees over it.
#[derive(Debug)]
pub struct CallForest<'r> {
    recording: &'r Recording,
    /// None where the order is the recorded one.
    order: Option<Order>,
    links: Vec<Links>,
    lines: OnceLock<SourceLines>,
    history: OnceLock<History>,
}

#[derive(Debug)]
struct Order {
    events: Vec<u32>,
    positions: Vec<u32>,
}

/// Places of an activation among the others.
#[derive(Debug, Clone, Copy)]
struct Links {
    /// Position behind its last descendant.
    end: u32,
    depth: u32,
    /// Neighbours that were called during the same event.
    previous: u32,
    next: u32,
    /// The last one called during the same event.
    last: u32,
}

impl<'r> CallForest<'r> {
    /// Puts the events in order. Takes time in proportion to their number.
    pub fn new(recording: &'r Recording) -> Self {
        let activations = recording.activations();
        let mut links = vec![
            Links {
                end: 0,
                depth: 0,
                previous: NONE,
                next: NONE,
                last: NONE
            };
            activations.len()
        ];
        // The first and the last activation called during each event.
        let mut called = vec![(NONE, NONE); recording.len()];
        for (index, activation) in activations.iter().enumerate() {
            let id = index as u32;
            let (Some(parent), Some(event)) = (activation.parent, activation.parent_event) else {
                continue;
            };
            links[index].depth = links[parent.index()].depth + 1;
            let (first, last) = &mut called[event.index()];
            if *last == NONE {
                *first = id;
            } else {
                links[*last as usize].next = id;
                links[index].previous = *last;
            }
            *last = id;
        }
        for (index, activation) in activations.iter().enumerate() {
            links[index].last = activation
                .parent_event
                .map_or(index as u32, |event| called[event.index()].1);
        }
        let events = preorder(recording, &called, &mut links);
        let recorded = events
            .iter()
            .enumerate()
            .all(|(at, &event)| at as u32 == event);
        let order = (!recorded).then(|| {
            let mut positions = vec![0; events.len()];
            for (at, &event) in events.iter().enumerate() {
                positions[event as usize] = at as u32;
            }
            Order { events, positions }
        });
        Self {
            recording,
            order,
            links,
            lines: OnceLock::new(),
            history: OnceLock::new(),
        }
    }

    /// The recording.
    pub fn recording(&self) -> &'r Recording {
        self.recording
    }

    /// Activations without a recorded caller: the tops of threads, of tests, of programs.
    pub fn roots(&self) -> impl Iterator<Item = ActivationId> + '_ {
        self.recording
            .activations()
            .iter()
            .enumerate()
            .filter(|(_, activation)| activation.parent_event.is_none())
            .map(|(index, _)| ActivationId(index as u32))
    }

    /// The scope of an activation: itself and all that it called.
    pub fn tree(&self, root: ActivationId) -> Tree<'_> {
        Tree::new(self, root)
    }

    /// Place of an event in the order.
    pub fn position(&self, id: EventId) -> usize {
        self.order
            .as_ref()
            .map_or(id.index(), |order| order.positions[id.index()] as usize)
    }

    /// The event at a place in the order.
    pub fn at(&self, position: usize) -> Option<EventId> {
        match &self.order {
            None => self.recording.find_event(position),
            Some(order) => order.events.get(position).map(|&event| EventId(event)),
        }
    }

    /// Position behind the last descendant of an activation.
    pub fn end_of(&self, id: ActivationId) -> usize {
        self.links[id.index()].end as usize
    }

    /// Position behind an event and everything that was called during it.
    pub fn end_of_event(&self, id: EventId) -> usize {
        match self.recording.next_in_activation(id) {
            Some(next) => self.position(next),
            None => self.end_of(self.recording.event(id).activation),
        }
    }

    /// Number of events in the scope of an activation.
    pub fn size(&self, id: ActivationId) -> usize {
        self.end_of(id) - self.position(self.recording.activation(id).first)
    }

    /// Number of recorded callers above an activation.
    pub fn depth(&self, id: ActivationId) -> usize {
        self.links[id.index()].depth as usize
    }

    /// The first activation that was called during an event.
    pub fn first_called(&self, id: EventId) -> Option<ActivationId> {
        let next = self.at(self.position(id) + 1)?;
        let activation = self.recording.event(next).activation;
        (self.recording.activation(activation).parent_event == Some(id)).then_some(activation)
    }

    /// The last activation that was called during an event.
    pub fn last_called(&self, id: EventId) -> Option<ActivationId> {
        let first = self.first_called(id)?;
        Some(ActivationId(self.links[first.index()].last))
    }

    /// The activation that was called during the same event just before.
    pub fn previous_called(&self, id: ActivationId) -> Option<ActivationId> {
        let previous = self.links[id.index()].previous;
        (previous != NONE).then_some(ActivationId(previous))
    }

    /// Where each source line runs. Computed at the first use.
    pub fn lines(&self) -> &SourceLines {
        self.lines.get_or_init(|| SourceLines::of(self))
    }

    /// Bindings before each change. Computed at the first use.
    pub fn history(&self) -> &History {
        self.history.get_or_init(|| History::of(self.recording))
    }

    /// The locals at an event, in time bounded by their number.
    pub fn locals(&self, id: EventId) -> Locals {
        self.history().locals(self.recording, id)
    }
}

/// Events in preorder; fills in where each activation ends.
fn preorder(recording: &Recording, called: &[(u32, u32)], links: &mut [Links]) -> Vec<u32> {
    let activations = recording.activations();
    let mut events = Vec::with_capacity(recording.len());
    for root in activations.iter().filter(|a| a.parent_event.is_none()) {
        let mut at = root.first;
        'walk: loop {
            events.push(at.0);
            let (child, _) = called[at.index()];
            if child != NONE {
                at = activations[child as usize].first;
                continue;
            }
            // Nothing below: on along the level, or up until a level goes on.
            loop {
                if let Some(next) = recording.next_in_activation(at) {
                    at = next;
                    break;
                }
                let activation = recording.event(at).activation.index();
                links[activation].end = events.len() as u32;
                let next = links[activation].next;
                if next != NONE {
                    at = activations[next as usize].first;
                    break;
                }
                match activations[activation].parent_event {
                    Some(event) => at = event,
                    None => break 'walk,
                }
            }
        }
    }
    events
}
