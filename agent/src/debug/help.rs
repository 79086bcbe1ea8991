//! Help texts of the debugger.

use std::fmt::Write as _;

use super::command::COMMANDS;

/// One line a command.
pub fn overview() -> String {
    let mut text = String::new();
    for (names, argument, help) in COMMANDS {
        let left = format!("{} {argument}", names[0]);
        let _ = writeln!(text, "  {left:<22}{help}");
    }
    text + "\nAn empty line repeats the last step. `h COMMAND` says more.\n"
}

/// More on one command; none when there is no such command.
pub fn on(name: &str) -> Option<String> {
    let (names, argument, help) = COMMANDS.iter().find(|(names, ..)| names.contains(&name))?;
    let mut text = format!("{} {argument}\n  {help}\n", names.join(", "));
    let more = match names[0] {
        "find" | "rfind" => {
            "\n  EXPR is a part of Python's expressions over the recorded values:\n  \
             comparisons, `and`, `or`, `not`, `in`, `is`, `len(x)`, `x[0]`, `x.name`.\n  \
             $event $function $file $line $depth $value $exception are about the event.\n  Names are those of the frame that runs:\n\n    \
             find total < 0\n    find $exception == 'KeyError'\n    \
             find $function == 'pay' and $event == 'return' and $value is None\n"
        }
        "b" => {
            "\n    b 12                    a line of the file shown\n    \
             b cart.py:12            a line of a file\n    \
             b Cart.add              calls of a function\n    \
             b Cart.add if n > 3     only when a condition holds\n    \
             b if total < 0          wherever a condition holds\n"
        }
        "rr" => "\n  The twin of `r`: from anywhere in a call to its arguments.\n",
        "why" => {
            "\n  Goes back in this frame to the line that gave the variable its value.\n  \
             When a callee changed the same object, names that line instead.\n"
        }
        "p" => "\n  The same expressions as `find`: `p total`, `p items[0]`, `p self.owner`.\n",
        _ => "",
    };
    text += more;
    Some(text)
}
