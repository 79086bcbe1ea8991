//! Shares along a horizon.

use super::Plot;
use super::canvas::{Anchor, Canvas, TICKS, percent, tick};

/// A place of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Number of the place on the axis.
    pub at: usize,
    /// 0 to 1.
    pub share: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it shows.
    pub name: String,
    /// Its places in order.
    pub points: Vec<Point>,
}

/// Lines over places that are named.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// Name for the file.
    pub name: String,
    /// What is shown.
    pub title: String,
    /// What the axis counts.
    pub axis: String,
    /// Names of the places.
    pub places: Vec<String>,
    /// Lines; the first four are told apart.
    pub series: Vec<Series>,
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 300.0;

impl Lines {
    /// Draws them.
    pub fn draw(&self) -> Plot {
        let mut canvas = Canvas::new(BOTTOM + 48.0);
        let steps = self.places.len().max(2) as f64 - 1.0;
        let x = |at: usize| LEFT + 12.0 + (RIGHT - LEFT - 24.0) * at as f64 / steps;
        let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share.clamp(0.0, 1.0);
        canvas.text("", (0.0, 18.0), Anchor::Start, &self.title);
        for share in TICKS {
            canvas.line("grid", (LEFT, y(share)), (RIGHT, y(share)));
            canvas.text(
                "dim",
                (LEFT - 8.0, y(share) + 4.5),
                Anchor::End,
                &tick(share),
            );
        }
        for (at, place) in self.places.iter().enumerate() {
            canvas.line("axis", (x(at), BOTTOM), (x(at), BOTTOM + 4.0));
            canvas.text("dim", (x(at), BOTTOM + 18.0), Anchor::Middle, place);
        }
        let middle = f64::midpoint(LEFT, RIGHT);
        canvas.text("dim", (middle, BOTTOM + 38.0), Anchor::Middle, &self.axis);
        let mut described = Vec::new();
        let mut legend = LEFT;
        for (number, series) in self.series.iter().enumerate() {
            let colour = number.min(3);
            if let Some(band) = band(series, &x, &y) {
                canvas.polygon(&format!("band d{colour}"), &band);
            }
            let path: Vec<(f64, f64)> = series
                .points
                .iter()
                .map(|point| (x(point.at), y(point.share)))
                .collect();
            canvas.polyline(&format!("line c{colour}"), &path);
            for (point, &at) in series.points.iter().zip(&path) {
                let place = self.places.get(point.at).map_or("", String::as_str);
                let said = format!("{} at {place}: {}", series.name, percent(point.share));
                canvas.circle(&format!("d{colour}"), at, 3.0, &said);
                described.push(said);
            }
            canvas.line(
                &format!("line c{colour}"),
                (legend, 36.0),
                (legend + 26.0, 36.0),
            );
            canvas.text("", (legend + 32.0, 40.5), Anchor::Start, &series.name);
            legend += 52.0 + 7.0 * series.name.chars().count() as f64;
        }
        canvas.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        Plot {
            name: self.name.clone(),
            svg: canvas.finish(&self.name, &self.title, &described.join("; ")),
        }
    }
}

/// The outline of a series' intervals.
fn band(
    series: &Series,
    x: &impl Fn(usize) -> f64,
    y: &impl Fn(f64) -> f64,
) -> Option<Vec<(f64, f64)>> {
    let known = series
        .points
        .iter()
        .filter_map(|point| Some((point.at, point.interval?)));
    let upper = known.clone().map(|(at, (_, high))| (x(at), y(high)));
    let lower = known.rev().map(|(at, (low, _))| (x(at), y(low)));
    let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    (outline.len() > 2).then_some(outline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_a_line_with_points_a_band_and_an_entry_in_the_legend() {
        let series = |name: &str, interval| Series {
            name: name.into(),
            points: (0..3)
                .map(|at| Point {
                    at,
                    share: 1.0 - at as f64 / 4.0,
                    interval,
                })
                .collect(),
        };
        let lines = Lines {
            name: "horizon".into(),
            title: "State after steps".into(),
            axis: "statements".into(),
            places: vec!["1".into(), "2".into(), "3–4".into()],
            series: vec![series("@1", Some((0.2, 0.9))), series("copy", None)],
        };
        let svg = lines.draw().svg;
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("<polygon").count(), 1);
        assert_eq!(svg.matches("<circle").count(), 6);
        for text in [
            ">@1</text>",
            ">copy</text>",
            ">3–4</text>",
            ">statements</text>",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.contains("copy at 2: 75.0 %"));
    }
}
