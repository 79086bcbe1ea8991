//! Where each line of source runs: breakpoints are a search in a sorted list instead of a scan.

use std::collections::HashMap;

use crate::forest::CallForest;

/// A text of a source line. Lines that read alike are one, wherever they stand: a breakpoint names
/// a line by its text alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(u32);

/// The source lines of a recording's events.
#[derive(Debug)]
pub struct SourceLines {
    texts: Vec<Box<str>>,
    /// Ids by text, to search in.
    sorted: Vec<u32>,
    /// Where the positions of each line start.
    starts: Vec<u32>,
    positions: Vec<u32>,
    /// The line at each position; [`BLANK`] for none.
    at: Vec<u32>,
}

const BLANK: u32 = u32::MAX;

impl SourceLines {
    pub(crate) fn of(forest: &CallForest<'_>) -> Self {
        let recording = forest.recording();
        let mut ids: HashMap<&str, u32> = HashMap::new();
        let mut texts: Vec<Box<str>> = Vec::new();
        let mut known: HashMap<(u32, u32), Option<u32>> = HashMap::new();
        let mut at = Vec::with_capacity(recording.len());
        for position in 0..recording.len() {
            let Some(event) = forest.at(position) else {
                break;
            };
            let place = (recording.code_of(event).file.0, recording.event(event).line);
            let id = *known.entry(place).or_insert_with(|| {
                let text = recording.source_line(event);
                // A blank line names no place: code without source has nothing else.
                (!text.trim().is_empty()).then(|| {
                    *ids.entry(text).or_insert_with(|| {
                        texts.push(text.into());
                        texts.len() as u32 - 1
                    })
                })
            });
            at.push(id.unwrap_or(BLANK));
        }
        let mut starts = vec![0_u32; texts.len() + 1];
        for &id in at.iter().filter(|&&id| id != BLANK) {
            starts[id as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut positions = vec![0; starts.last().map_or(0, |&end| end as usize)];
        for (position, &id) in at.iter().enumerate().filter(|(_, id)| **id != BLANK) {
            let slot = &mut next[id as usize];
            positions[*slot as usize] = position as u32;
            *slot += 1;
        }
        let mut sorted: Vec<u32> = (0..texts.len() as u32).collect();
        sorted.sort_unstable_by(|a, b| texts[*a as usize].cmp(&texts[*b as usize]));
        Self {
            texts,
            sorted,
            starts,
            positions,
            at,
        }
    }

    /// The line with a text, indentation included.
    pub fn find(&self, text: &str) -> Option<LineId> {
        self.sorted
            .binary_search_by(|&id| self.texts[id as usize].as_ref().cmp(text))
            .ok()
            .map(|index| LineId(self.sorted[index]))
    }

    /// The text of a line.
    pub fn text(&self, id: LineId) -> &str {
        &self.texts[id.0 as usize]
    }

    /// The line at a position; none where it is blank.
    pub fn at(&self, position: usize) -> Option<LineId> {
        let id = self.at.get(position).copied()?;
        (id != BLANK).then_some(LineId(id))
    }

    /// The lines that run at positions `start..end`, each with the last of them, ascending.
    pub fn last_positions(&self, start: usize, end: usize) -> Vec<(usize, LineId)> {
        // A short range is walked, a long one is asked line by line.
        let mut found: Vec<_> = if end.saturating_sub(start) < self.len() * 16 {
            let mut seen = vec![false; self.len()];
            let lines = (start..end).rev().filter_map(|at| Some((at, self.at(at)?)));
            lines
                .filter(|(_, line)| !std::mem::replace(&mut seen[line.0 as usize], true))
                .collect()
        } else {
            let last = |line| {
                let position = self.last_before(line, end)?;
                (position >= start).then_some((position, line))
            };
            self.iter().filter_map(last).collect()
        };
        found.sort_unstable();
        found
    }

    /// All lines, in the order in which they first run.
    pub fn iter(&self) -> impl Iterator<Item = LineId> + use<> {
        (0..self.texts.len() as u32).map(LineId)
    }

    /// Number of different lines.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Positions of the line's events, ascending.
    pub fn positions(&self, id: LineId) -> &[u32] {
        let index = id.0 as usize;
        &self.positions[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// First position of the line that is not before `from`.
    pub fn first_from(&self, id: LineId, from: usize) -> Option<usize> {
        let positions = self.positions(id);
        let at = positions.partition_point(|&p| (p as usize) < from);
        positions.get(at).map(|&p| p as usize)
    }

    /// Last position of the line that is before `end`.
    pub fn last_before(&self, id: LineId, end: usize) -> Option<usize> {
        let positions = self.positions(id);
        let at = positions.partition_point(|&p| (p as usize) < end);
        at.checked_sub(1).map(|index| positions[index] as usize)
    }
}
