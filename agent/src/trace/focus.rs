//! What `--focus` names: functions, files, or functions of a file.

use camino::Utf8Path;

/// Files and functions to record; everything where both are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Focus {
    /// Globs of files.
    pub files: Option<Vec<String>>,
    /// Plain or qualified names of functions.
    pub functions: Option<Vec<String>>,
}

impl Focus {
    /// Reads `name`, `Class.name`, `file.py` and `file.py::name`.
    pub fn parse(texts: &[String]) -> Self {
        let mut focus = Self::default();
        for text in texts {
            let (file, function) = match text.split_once("::") {
                Some((file, function)) => (Some(file), Some(function.replace("::", "."))),
                None if Utf8Path::new(text).extension() == Some("py")
                    || text.contains(['/', '*']) =>
                {
                    (Some(&text[..]), None)
                }
                None => (None, Some(text.clone())),
            };
            if let Some(file) = file {
                focus.files.get_or_insert_default().push(file.to_owned());
            }
            if let Some(function) = function {
                focus.functions.get_or_insert_default().push(function);
            }
        }
        focus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_functions_are_told_apart() {
        let texts = ["pay", "Cart.add", "src/*.py", "shop/cart.py::Cart::total"];
        let focus = Focus::parse(&texts.map(str::to_owned));
        let files = focus.files.unwrap();
        assert_eq!(files, ["src/*.py", "shop/cart.py"]);
        let functions = focus.functions.unwrap();
        assert_eq!(functions, ["pay", "Cart.add", "Cart.total"]);
    }
}
