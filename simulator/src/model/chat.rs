//! A network that talks: everything that a GGUF file says about a conversation with it.
//!
//! One row of a cache is kept, so that what two prompts begin with is read once.

use super::error::ModelError;
use super::gguf::{self, Token};
use super::network::Network as _;
use super::transformer::{Cache, Transformer};
use super::vocabulary::{self, Vocabulary};
use super::weights::{Bytes, Weights};

/// Names of tokens that end a turn, besides those that the file names.
const ENDS: [&str; 7] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "</s>",
];

/// The network with its tokens.
pub struct Chat {
    network: Transformer,
    vocabulary: Box<dyn Vocabulary>,
    tokens: Vec<Token>,
    specials: Vec<(String, u32)>,
    template: Option<String>,
    begin: Option<u32>,
    end: Option<u32>,
    adds_begin: bool,
    ends: Vec<u32>,
    cache: Cache,
    /// What the cache holds.
    read: Vec<u32>,
}

impl std::fmt::Debug for Chat {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Chat({} tokens read)", self.read.len())
    }
}

impl Chat {
    /// From the contents of a GGUF file.
    ///
    /// # Errors
    /// What is missing, misshapen or not supported, by name.
    pub fn from_gguf(file: Bytes) -> Result<Self, ModelError> {
        let weights = Weights::from_gguf(file)?;
        let Weights::Gguf { content, .. } = &weights else {
            return Err(ModelError::Weights("not a GGUF file".to_owned()));
        };
        let config = gguf::config(content, &weights)?;
        let vocabulary = vocabulary::from_json(gguf::tokenizer_json(content)?.as_bytes())?;
        let tokens = gguf::tokens(content);
        let specials: Vec<(String, u32)> = (0..)
            .zip(&tokens)
            .filter_map(|(id, token)| match token {
                Token::Special(text) if !text.is_empty() => Some((text.clone(), id)),
                _ => None,
            })
            .collect();
        let named = |key: &str| gguf::id(content, key);
        let (begin, end) = (
            named("tokenizer.ggml.bos_token_id"),
            named("tokenizer.ggml.eos_token_id"),
        );
        let known = specials
            .iter()
            .filter(|(text, _)| ENDS.contains(&text.as_str()));
        let mut ends: Vec<u32> = known.map(|&(_, id)| id).collect();
        ends.extend(end.into_iter().chain(named("tokenizer.ggml.eot_token_id")));
        let network = Transformer::new(config, &weights)?;
        Ok(Self {
            cache: network.begin(),
            network,
            vocabulary,
            tokens,
            specials,
            template: gguf::template(content).map(str::to_owned),
            begin,
            end,
            adds_begin: gguf::adds_begin(content),
            ends,
            read: Vec::new(),
        })
    }

    /// Tokens of a conversation and an answer, together at most.
    pub fn context(&self) -> usize {
        self.network.config().context
    }

    /// The template (Jinja) that makes a text of a conversation, if the file has one.
    pub fn template(&self) -> Option<&str> {
        self.template.as_deref()
    }

    /// Tokens that are spelled in what a template makes, each with its id.
    pub fn specials(&self) -> &[(String, u32)] {
        &self.specials
    }

    /// The text of the token that begins every text; empty if there is none.
    pub fn begin(&self) -> &str {
        self.spelling(self.begin)
    }

    /// The text of the token that ends every text; empty if there is none.
    pub fn end(&self) -> &str {
        self.spelling(self.end)
    }

    /// The token that has to stand before every prompt, if there is one.
    pub fn wants_before(&self) -> Option<u32> {
        self.begin.filter(|_| self.adds_begin)
    }

    /// Whether a token ends a turn.
    pub fn is_end(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    /// What a token adds to a text; none for one that is no text.
    pub fn bytes(&self, token: u32) -> Option<&[u8]> {
        match self.tokens.get(token as usize) {
            Some(Token::Text(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Tokens of a text that has no special tokens, whatever is spelled in it.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`].
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.vocabulary.encode_text(text)
    }

    /// Keeps of what was read that with which a prompt begins, and says how much that is. The last token is read
    /// again, since what follows it is asked for.
    pub fn keep(&mut self, prompt: &[u32]) -> usize {
        let alike = self.read.iter().zip(prompt).take_while(|(a, b)| a == b);
        let kept = alike.count().min(prompt.len().saturating_sub(1));
        self.read.truncate(kept);
        self.cache.shorten(kept);
        kept
    }

    /// Reads on. The logits of what may follow, one for each token.
    ///
    /// # Errors
    /// Nothing to read, a token that is not there, more than the context holds, or a computation that failed.
    pub fn read(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let config = self.network.config();
        let (vocabulary, context) = (config.vocabulary, config.context);
        if tokens.is_empty() {
            return Err(ModelError::EmptyPrompt);
        }
        if let Some(&token) = tokens.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(ModelError::UnknownToken { token, vocabulary });
        }
        let length = self.read.len() + tokens.len();
        if length > context {
            return Err(ModelError::TooLong {
                tokens: length,
                context,
            });
        }
        let logits = self.network.append(&mut self.cache, tokens)?;
        self.read.extend_from_slice(tokens);
        Ok(logits.values)
    }

    fn spelling(&self, token: Option<u32>) -> &str {
        let special = self.specials.iter().find(|(_, id)| Some(*id) == token);
        special.map_or("", |(text, _)| text)
    }
}
