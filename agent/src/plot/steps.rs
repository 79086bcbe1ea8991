//! How many were done by when: curves that go up by one at each value.

use super::Plot;
use super::canvas::{Anchor, Canvas};

/// Curves that are told apart; more are not drawn.
pub const SERIES: usize = 6;

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Climb {
    /// What it shows.
    pub name: String,
    /// Where it goes up by one, in any order.
    pub at: Vec<f64>,
    /// How high it could have come.
    pub of: usize,
}

/// Cumulative curves over a logarithmic axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// Name for the file.
    pub name: String,
    /// What is shown.
    pub title: String,
    /// What the axis counts, with its unit.
    pub axis: String,
    /// What is counted upwards, in a word.
    pub counted: String,
    /// The curves; the first [`SERIES`] are drawn.
    pub series: Vec<Climb>,
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 620.0;
/// Of the first line of the legend.
const LEGEND: f64 = 36.0;
const ROW: f64 = 20.0;
const HEIGHT: f64 = 230.0;

impl Steps {
    /// Draws them.
    pub fn draw(&self) -> Plot {
        let series: Vec<(Vec<f64>, &Climb)> = self
            .series
            .iter()
            .take(SERIES)
            .map(|climb| {
                // A logarithm knows no zero.
                let mut at: Vec<f64> = climb.at.iter().map(|value| value.max(0.01)).collect();
                at.sort_by(f64::total_cmp);
                (at, climb)
            })
            .collect();
        let top = LEGEND + ROW * series.len() as f64 + 22.0;
        let bottom = top + HEIGHT;
        let mut canvas = Canvas::new(bottom + 48.0);
        let (from, to) = range(series.iter().flat_map(|(at, _)| at.iter().copied()));
        let most = series.iter().map(|(_, climb)| climb.of).max().unwrap_or(0);
        let ticks = whole_ticks(most);
        let high = ticks.last().copied().unwrap_or(1).max(1) as f64;
        let x = |value: f64| LEFT + (RIGHT - LEFT) * (value / from).log10() / (to / from).log10();
        let y = |count: f64| bottom - (bottom - top) * count / high;
        canvas.text("", (0.0, 18.0), Anchor::Start, &self.title);
        canvas.text("dim", (0.0, top - 14.0), Anchor::Start, &self.counted);
        for count in ticks {
            let height = y(count as f64);
            canvas.line("grid", (LEFT, height), (RIGHT, height));
            let at = (LEFT - 8.0, height + 4.5);
            canvas.text("dim", at, Anchor::End, &count.to_string());
        }
        for value in marks(from, to) {
            canvas.line("axis", (x(value), bottom), (x(value), bottom + 4.0));
            let at = (x(value), bottom + 18.0);
            canvas.text("dim", at, Anchor::Middle, &plain(value));
        }
        let middle = f64::midpoint(LEFT, RIGHT);
        canvas.text("dim", (middle, bottom + 38.0), Anchor::Middle, &self.axis);
        let mut described = Vec::new();
        for (colour, (at, climb)) in series.iter().enumerate() {
            let mut path = vec![(LEFT, y(0.0))];
            for (before, &value) in at.iter().enumerate() {
                path.push((x(value), y(before as f64)));
                path.push((x(value), y(before as f64 + 1.0)));
            }
            path.push((RIGHT, y(at.len() as f64)));
            canvas.polyline(&format!("line c{colour}"), &path);
            let said = format!(
                "{}: {} of {} {}",
                climb.name,
                at.len(),
                climb.of,
                self.counted
            );
            for (before, &value) in at.iter().enumerate() {
                let title = format!("{}: {} at {}", climb.name, before + 1, plain(value));
                let place = (x(value), y(before as f64 + 1.0));
                canvas.circle(&format!("d{colour}"), place, 2.5, &title);
            }
            let line = LEGEND + ROW * colour as f64;
            let ends = ((LEFT, line), (LEFT + 26.0, line));
            canvas.line(&format!("line c{colour}"), ends.0, ends.1);
            canvas.text("", (LEFT + 32.0, line + 4.5), Anchor::Start, &said);
            described.push(said);
        }
        canvas.line("axis", (LEFT, bottom), (RIGHT, bottom));
        Plot {
            name: self.name.clone(),
            svg: canvas.finish(&self.name, &self.title, &described.join("; ")),
        }
    }
}

/// Powers of ten, or of ten with a factor of 2 or 5, around all values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    });
    let (low, high) = ends.unwrap_or((1.0, 10.0));
    let from = steps(low).filter(|step| *step <= low).last();
    let from = from.unwrap_or(low);
    let to = steps(from).find(|step| *step >= high && *step > from);
    (from, to.unwrap_or(from * 10.0))
}

/// 1, 2, 5, 10, …, from the power of ten at or below `low`.
fn steps(low: f64) -> impl Iterator<Item = f64> {
    let first = low.log10().floor() as i32;
    (first..first + 13).flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * 10f64.powi(power)))
}

/// Values at which the axis is marked, not too many.
fn marks(from: f64, to: f64) -> Vec<f64> {
    // A thousandth for what powers of ten lose.
    let within = |value: &f64| *value >= from * 0.999 && *value <= to * 1.001;
    let all: Vec<f64> = steps(from).filter(within).collect();
    if all.len() <= 10 {
        return all;
    }
    let tens = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-6;
    all.into_iter().filter(tens).collect()
}

/// Whole numbers from 0 up to at least `most`, at most six steps.
fn whole_ticks(most: usize) -> Vec<usize> {
    let mut step = 1;
    for factor in [2, 5, 10].iter().cycle().enumerate() {
        if most <= step * 6 {
            break;
        }
        let power = 10usize.pow(factor.0 as u32 / 3);
        step = power * factor.1;
    }
    let count = most.div_ceil(step).max(1);
    (0..=count).map(|at| at * step).collect()
}

/// A number without needless digits.
fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn climb(name: &str, at: &[f64]) -> Climb {
        Climb {
            name: name.into(),
            at: at.to_vec(),
            of: 5,
        }
    }

    fn steps_of(series: Vec<Climb>) -> String {
        let steps = Steps {
            name: "solved".into(),
            title: "Tasks solved".into(),
            axis: "seconds".into(),
            counted: "tasks".into(),
            series,
        };
        steps.draw().svg
    }

    #[test]
    fn a_curve_goes_up_once_for_each_value_in_their_order() {
        let svg = steps_of(vec![climb("<a>", &[40.0, 2.0, 2.0]), climb("none", &[])]);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("&lt;a&gt;: 3 of 5 tasks"), "{svg}");
        assert!(svg.contains("none: 0 of 5 tasks"), "{svg}");
        assert!(svg.contains("<title>&lt;a&gt;: 3 at 40</title>"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let turned = steps_of(vec![climb("<a>", &[2.0, 2.0, 40.0]), climb("none", &[])]);
        assert_eq!(svg, turned);
    }

    #[test]
    fn nothing_and_zero_can_be_drawn() {
        for series in [Vec::new(), vec![climb("a", &[])], vec![climb("a", &[0.0])]] {
            let svg = steps_of(series);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn axes_are_marked_at_round_numbers() {
        assert_eq!(whole_ticks(0), [0, 1]);
        assert_eq!(whole_ticks(5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(whole_ticks(18), [0, 5, 10, 15, 20]);
        assert_eq!(whole_ticks(500), [0, 100, 200, 300, 400, 500]);
        assert_eq!(range([3.0, 40.0].into_iter()), (2.0, 50.0));
        assert_eq!(range([1.0].into_iter()), (1.0, 2.0));
        assert_eq!(marks(2.0, 50.0), [2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(marks(1.0, 10_000.0), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
    }
}
