//! The text that a model reads of a conversation, by the template in its file, and the tokens of that text.
//!
//! What the conversation says is data: a special token that is spelled in it is none. Before the template sees it, a
//! mark is put into every such spelling, and taken out again where the text becomes tokens.

use minijinja::{Environment, Error, ErrorKind, Value, context};
use ndbg_providers::Message;
use ndbg_simulator::model::{Chat, ModelError};

use super::date;

/// Characters that may be the mark: whichever the conversation does not have.
const MARKS: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{f8ff}';

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The file has no template.
    #[error("the file has no chat template (`tokenizer.chat_template`)")]
    NoTemplate,
    /// The template does not take this conversation.
    #[error("the chat template of the file: {0}")]
    Template(String),
    /// The text has no tokens.
    #[error(transparent)]
    Tokens(#[from] ModelError),
}

/// The tokens of a conversation, up to where the model speaks.
///
/// # Errors
/// No template, one that fails, or text that cannot be encoded.
pub fn tokens(chat: &Chat, system: &str, messages: &[Message]) -> Result<Vec<u32>, Unread> {
    let template = chat.template().ok_or(Unread::NoTemplate)?;
    let said = || messages.iter().map(Message::text).chain([system]);
    let mark = MARKS
        .into_iter()
        .find(|mark| !said().any(|text| text.contains(*mark)))
        .unwrap_or('\u{e000}');
    let specials = chat.specials();
    let guarded = |text: &str| {
        specials.iter().fold(text.to_owned(), |text, (special, _)| {
            if text.contains(special.as_str()) {
                let first = special.chars().next().map_or(0, char::len_utf8);
                let spelled = format!("{}{mark}{}", &special[..first], &special[first..]);
                text.replace(special.as_str(), &spelled)
            } else {
                text
            }
        })
    };
    let turns: Vec<(&str, String)> = messages
        .iter()
        .map(|message| (message.role(), guarded(message.text())))
        .collect();
    let (begin, end) = (chat.begin(), chat.end());
    let text = rendered(template, &guarded(system), &turns, begin, end).map_err(|error| {
        let line = error.line().map(|line| format!(" (line {line})"));
        Unread::Template(format!("{error}{}", line.unwrap_or_default()))
    })?;
    let mut tokens: Vec<u32> = chat.wants_before().into_iter().collect();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        // The longest of those that stand first: `<|end|>` may begin another one.
        let first = specials
            .iter()
            .filter_map(|(special, id)| Some((rest.find(special.as_str())?, special.len(), *id)))
            .min_by_key(|&(at, length, _)| (at, usize::MAX - length));
        let (before, after) = match first {
            Some((at, length, _)) => (&rest[..at], &rest[at + length..]),
            None => (rest, ""),
        };
        if !before.is_empty() {
            tokens.extend(chat.encode(&before.replace(mark, ""))?);
        }
        // Templates that write the first token by themselves do not get it twice.
        tokens.extend(first.map(|(_, _, id)| id).filter(|id| tokens != [*id]));
        rest = after;
    }
    Ok(tokens)
}

/// The text of a conversation. Templates that take no instructions get them before the first message.
fn rendered(
    template: &str,
    system: &str,
    turns: &[(&str, String)],
    begin: &str,
    end: &str,
) -> Result<String, Error> {
    let mut environment = Environment::new();
    // As `transformers` renders them.
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function(
        "raise_exception",
        |message: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        },
    );
    environment.add_function("strftime_now", |format: String| date::today(&format));
    environment.add_filter("tojson", json);
    environment.add_template("chat", template)?;
    let template = environment.get_template("chat")?;
    let render = |instructions: &str, before: &str| {
        let one = |role: &str, text: &str| context! { role => role, content => text };
        let mut messages = Vec::new();
        if !instructions.is_empty() {
            messages.push(one("system", instructions));
        }
        for (number, (role, text)) in turns.iter().enumerate() {
            let before = if number == 0 { before } else { "" };
            messages.push(one(role, &format!("{before}{text}")));
        }
        template.render(context! {
            messages => messages,
            bos_token => begin,
            eos_token => end,
            add_generation_prompt => true,
        })
    };
    render(system, "").or_else(|error| {
        if system.is_empty() {
            return Err(error);
        }
        render("", &format!("{system}\n\n")).map_err(|_| error)
    })
}

/// JSON as `transformers` writes it: blanks after `:` and `,`, nothing escaped that need not be.
fn json(value: &Value) -> Result<String, Error> {
    struct Spaced;
    impl serde_json::ser::Formatter for Spaced {
        fn begin_array_value<W: ?Sized + std::io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> std::io::Result<()> {
            if first {
                Ok(())
            } else {
                writer.write_all(b", ")
            }
        }

        fn begin_object_key<W: ?Sized + std::io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> std::io::Result<()> {
            self.begin_array_value(writer, first)
        }

        fn begin_object_value<W: ?Sized + std::io::Write>(
            &mut self,
            writer: &mut W,
        ) -> std::io::Result<()> {
            writer.write_all(b": ")
        }
    }
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    let wrong = |error: String| Error::new(ErrorKind::BadSerialization, error);
    serde::Serialize::serialize(value, &mut serializer)
        .map_err(|error| wrong(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHATML: &str = "{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == \"user\") or (message.role == \"assistant\" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
";

    fn text(template: &str, system: &str) -> Result<String, Error> {
        let turns = [
            ("user", "hello".to_owned()),
            ("assistant", "yes".to_owned()),
            ("user", " and? ".to_owned()),
        ];
        rendered(template, system, &turns, "<s>", "</s>")
    }

    #[test]
    fn a_conversation_is_written_as_the_template_says() {
        assert_eq!(
            text(CHATML, "be brief").unwrap(),
            "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n\
             <|im_start|>assistant\nyes<|im_end|>\n<|im_start|>user\n and? <|im_end|>\n<|im_start|>assistant\n"
        );
    }

    #[test]
    fn methods_and_functions_of_transformers_are_there() {
        let template = "{{ bos_token }}{% for m in messages %}
    {% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}
    {{ m.content.strip() }}{% if loop.last %}{% break %}{% endif %};
{% endfor %}
{{ {'a': [1, 'é\"'], 'b': none} | tojson }} {{ strftime_now('%Y')[:2] }}{{ eos_token }}";
        let said = text(template, "be brief").unwrap();
        assert!(said.starts_with("<s>"), "{said}");
        assert!(said.contains("be brief\n\nhello;"), "{said}");
        assert!(
            said.contains("{\"a\": [1, \"é\\\"\"], \"b\": null} 20</s>"),
            "{said}"
        );
    }

    #[test]
    fn what_a_template_does_not_take_is_said_in_its_words() {
        let error = text("{{ raise_exception('roles must alternate') }}", "").unwrap_err();
        assert!(
            error.to_string().contains("roles must alternate"),
            "{error}"
        );
        assert!(text("{% if %}", "").is_err());
    }
}
