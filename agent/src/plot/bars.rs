//! Shares by kind: bars with their intervals, and a mark for the baseline.

use super::Plot;
use super::canvas::{Anchor, Canvas, TICKS, WIDTH, percent, tick};

/// A share.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is the share of.
    pub label: String,
    /// 0 to 1.
    pub share: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// How many were counted.
    pub count: usize,
    /// What a baseline reaches.
    pub baseline: Option<f64>,
}

/// Shares one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Name for the file.
    pub name: String,
    /// What is shown.
    pub title: String,
    /// What the marks show; none if there are none.
    pub baseline: Option<String>,
    /// The bars.
    pub bars: Vec<Bar>,
}

const LEFT: f64 = 190.0;
const RIGHT: f64 = 515.0;
const TOP: f64 = 46.0;
const ROW: f64 = 26.0;

impl Bars {
    /// Draws them.
    pub fn draw(&self) -> Plot {
        let bottom = TOP + ROW * self.bars.len() as f64;
        let mut canvas = Canvas::new(bottom + 34.0);
        let x = |share: f64| LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0);
        canvas.text("", (0.0, 18.0), Anchor::Start, &self.title);
        if let Some(baseline) = &self.baseline {
            canvas.line("mark", (LEFT, 30.0), (LEFT, 40.0));
            canvas.text("dim", (LEFT + 8.0, 39.0), Anchor::Start, baseline);
        }
        for share in TICKS {
            canvas.line("grid", (x(share), TOP), (x(share), bottom));
            canvas.text(
                "dim",
                (x(share), bottom + 18.0),
                Anchor::Middle,
                &tick(share),
            );
        }
        for (row, bar) in self.bars.iter().enumerate() {
            let top = TOP + ROW * row as f64 + 4.0;
            let middle = top + 9.0;
            canvas.text("", (LEFT - 10.0, middle + 4.5), Anchor::End, &bar.label);
            let title = self.says(bar);
            canvas.rectangle("bar", (LEFT, top), (x(bar.share) - LEFT, 18.0), &title);
            if let Some((low, high)) = bar.interval {
                canvas.line("whisker", (x(low), middle), (x(high), middle));
                for end in [low, high] {
                    canvas.line("whisker", (x(end), middle - 4.0), (x(end), middle + 4.0));
                }
            }
            if let Some(baseline) = bar.baseline {
                canvas.line("mark", (x(baseline), top - 2.0), (x(baseline), top + 20.0));
            }
            let text = percent(bar.share);
            canvas.text("", (RIGHT + 8.0, middle + 4.5), Anchor::Start, &text);
            let count = format!("n {}", bar.count);
            canvas.text("dim", (WIDTH, middle + 4.5), Anchor::End, &count);
        }
        canvas.line("axis", (LEFT, TOP), (LEFT, bottom));
        let sentences: Vec<String> = self.bars.iter().map(|bar| self.says(bar)).collect();
        Plot {
            name: self.name.clone(),
            svg: canvas.finish(&self.name, &self.title, &sentences.join("; ")),
        }
    }

    fn says(&self, bar: &Bar) -> String {
        let mut said = format!("{}: {} of {}", bar.label, percent(bar.share), bar.count);
        if let Some((low, high)) = bar.interval {
            said.push_str(", 95 % interval ");
            said.push_str(&percent(low));
            said.push_str(" to ");
            said.push_str(&percent(high));
        }
        if let (Some(name), Some(share)) = (&self.baseline, bar.baseline) {
            said.extend([", ", name, " ", &percent(share)]);
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars() -> Plot {
        let bar = |label: &str, share| Bar {
            label: label.into(),
            share,
            interval: Some((share - 0.1, share + 0.1)),
            count: 40,
            baseline: Some(0.25),
        };
        let bars = Bars {
            name: "by-kind".into(),
            title: "Exact <match>".into(),
            baseline: Some("copy".into()),
            bars: vec![bar("if & elif", 0.5), bar("return", 0.95)],
        };
        bars.draw()
    }

    #[test]
    fn every_bar_has_a_length_an_interval_and_a_mark() {
        let svg = bars().svg;
        assert_eq!(svg.matches("<rect class=\"bar\"").count(), 2);
        assert_eq!(svg.matches("class=\"whisker\"").count(), 6);
        // One is the legend's.
        assert_eq!(svg.matches("class=\"mark\"").count(), 3);
        assert!(svg.contains("width=\"162.5\""), "half of the scale: {svg}");
    }

    #[test]
    fn a_plot_says_what_it_shows_and_escapes_what_it_is_given() {
        let svg = bars().svg;
        assert!(svg.contains("role=\"img\"") && svg.contains("aria-labelledby=\"by-kind-title"));
        assert!(svg.contains("<title id=\"by-kind-title\">Exact &lt;match&gt;</title>"));
        assert!(svg.contains("if &amp; elif: 50.0 % of 40"), "{svg}");
        assert!(svg.contains("prefers-color-scheme:dark"));
        let open = svg.matches("<text").count();
        assert_eq!(open, svg.matches("</text>").count());
    }
}
