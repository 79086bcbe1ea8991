//! Whether confidence is worth something: accuracy over confidence, and how often which is said.

use ndbg_simulator::eval::Calibration;

use super::Plot;
use super::canvas::{Anchor, Canvas, TICKS, percent, tick};

/// A curve of reliability above a histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// Name for the file.
    pub name: String,
    /// What is shown.
    pub title: String,
    /// The bins.
    pub calibration: Calibration,
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 412.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 336.0;
/// The histogram below it.
const FLOOR: f64 = 426.0;

impl Reliability {
    /// Draws it.
    pub fn draw(&self) -> Plot {
        let mut canvas = Canvas::new(FLOOR + 44.0);
        let x = |share: f64| LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0);
        let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share.clamp(0.0, 1.0);
        canvas.text("", (0.0, 18.0), Anchor::Start, &self.title);
        for share in TICKS {
            canvas.line("grid", (LEFT, y(share)), (RIGHT, y(share)));
            canvas.line("grid", (x(share), TOP), (x(share), BOTTOM));
            canvas.text(
                "dim",
                (LEFT - 8.0, y(share) + 4.5),
                Anchor::End,
                &tick(share),
            );
            canvas.text(
                "dim",
                (x(share), FLOOR + 18.0),
                Anchor::Middle,
                &tick(share),
            );
        }
        canvas.line("ideal", (x(0.0), y(0.0)), (x(1.0), y(1.0)));
        let (bins, mut described) = (&self.calibration.bins, Vec::new());
        let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1) as f64;
        let width = 1.0 / bins.len().max(1) as f64;
        let mut path = Vec::new();
        for (number, bin) in bins.iter().enumerate() {
            let from = number as f64 * width;
            let high = (FLOOR - BOTTOM - 16.0) * bin.count as f64 / most;
            let range = format!("{} to {}", tick(from), tick(from + width));
            let said = format!("confidence {range}: {} answers", bin.count);
            let size = (x(from + width) - x(from) - 2.0, high);
            canvas.rectangle("pale", (x(from) + 1.0, FLOOR - high), size, &said);
            if bin.count > 0 {
                path.push(((x(bin.confidence), y(bin.accuracy)), bin));
                described.push(format!("{said}, {} right", percent(bin.accuracy)));
            }
        }
        let line: Vec<(f64, f64)> = path.iter().map(|&(at, _)| at).collect();
        canvas.polyline("line c0", &line);
        for (at, bin) in path {
            let said = format!(
                "said {}, right {}, n {}",
                percent(bin.confidence),
                percent(bin.accuracy),
                bin.count
            );
            canvas.circle("d0", at, 4.0, &said);
        }
        canvas.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        canvas.line("axis", (LEFT, FLOOR), (RIGHT, FLOOR));
        let middle = f64::midpoint(LEFT, RIGHT);
        canvas.text("dim", (middle, FLOOR + 38.0), Anchor::Middle, "confidence");
        let beside = RIGHT + 24.0;
        for (row, text) in [
            format!("{} answers", self.calibration.count),
            format!("calibration error {}", percent(self.calibration.error)),
            format!("Brier score {:.4}", self.calibration.brier),
        ]
        .iter()
        .enumerate()
        {
            canvas.text(
                "",
                (beside, TOP + 16.0 + 22.0 * row as f64),
                Anchor::Start,
                text,
            );
        }
        canvas.text(
            "dim",
            (beside, TOP + 98.0),
            Anchor::Start,
            "line: right, of those said",
        );
        canvas.text(
            "dim",
            (beside, TOP + 116.0),
            Anchor::Start,
            "dashes: as often as said",
        );
        canvas.text(
            "dim",
            (beside, FLOOR - 30.0),
            Anchor::Start,
            "how often which",
        );
        canvas.text(
            "dim",
            (beside, FLOOR - 12.0),
            Anchor::Start,
            "confidence is said",
        );
        Plot {
            name: self.name.clone(),
            svg: canvas.finish(&self.name, &self.title, &described.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::eval::{Judged, calibration};

    use super::*;

    #[test]
    fn bins_with_answers_are_points_and_all_bins_are_bars() {
        let judged = [(0.95, true), (0.92, true), (0.55, false)];
        let judged = judged.map(|(confidence, right)| Judged { confidence, right });
        let reliability = Reliability {
            name: "reliability".into(),
            title: "Reliability".into(),
            calibration: calibration(&judged),
        };
        let svg = reliability.draw().svg;
        assert_eq!(svg.matches("<rect").count(), 10);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("confidence 90 % to 100 %: 2 answers"), "{svg}");
        assert!(svg.contains("3 answers") && svg.contains("Brier score"));
    }
}
