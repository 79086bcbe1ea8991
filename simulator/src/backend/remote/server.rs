//! What kind of server it is, and what it serves.

use serde_json::Value;

use super::client::Client;
use super::error::{RemoteError, plain};

/// A program that serves models. They differ in what they add to the common API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// vLLM: token ids in both directions, probabilities of a prompt by `echo`.
    Vllm,
    /// SGLang: the same.
    Sglang,
    /// llama.cpp: token ids in both directions; a prompt's probabilities one token at a time.
    LlamaCpp,
    /// Another one: nothing but the common API.
    Other,
}

/// A served model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The program.
    pub kind: Kind,
    /// The model's name there.
    pub model: String,
    /// Tokens of a prompt and its answer; none if it does not say.
    pub context: Option<usize>,
    /// Number of tokens; none if it does not say.
    pub vocabulary: Option<usize>,
}

/// Asks a server what it serves. `wanted` is a model's name; without it there must be one model.
///
/// # Errors
/// What keeps it from answering; [`RemoteError::NotFound`] for a model that is not there or not clear.
pub fn ask(client: &Client, wanted: Option<&str>) -> Result<Served, RemoteError> {
    read(&client.get("/models")?, wanted)
}

fn read(answer: &Value, wanted: Option<&str>) -> Result<Served, RemoteError> {
    let shape = || RemoteError::Shape("`/models` has no list `data`".to_owned());
    let models = answer["data"].as_array().ok_or_else(shape)?;
    let name = |model: &Value| model["id"].as_str().map(str::to_owned);
    let owner = |model: &Value| model["owned_by"].as_str().unwrap_or_default().to_owned();
    let found = match (wanted, &models[..]) {
        (Some(wanted), models) => models
            .iter()
            // llama.cpp serves one model under every name.
            .find(|model| name(model).as_deref() == Some(wanted) || owner(model) == "llamacpp"),
        (None, [model]) => Some(model),
        (None, _) => None,
    };
    let Some(model) = found else {
        let names: Vec<String> = models.iter().filter_map(name).collect();
        return Err(RemoteError::NotFound {
            what: wanted.map_or("which model is meant".to_owned(), |name| {
                format!("the model `{name}`")
            }),
            message: format!("it has {}", plain(&names.join(", "))),
        });
    };
    let kind = match owner(model).as_str() {
        "vllm" => Kind::Vllm,
        "sglang" => Kind::Sglang,
        "llamacpp" => Kind::LlamaCpp,
        _ => Kind::Other,
    };
    let meta = &model["meta"];
    let size = |value: &Value| {
        value
            .as_u64()
            .map(|size| size as usize)
            .filter(|&size| size > 0)
    };
    let lengths = [
        &model["max_model_len"],
        &meta["n_ctx"],
        &model["context_length"],
    ];
    Ok(Served {
        kind,
        model: plain(&name(model).ok_or_else(shape)?),
        context: lengths.into_iter().find_map(size),
        vocabulary: size(&meta["n_vocab"]),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn servers_tell_themselves_apart() {
        let vllm = json!({"object": "list", "data": [
            {"id": "a", "owned_by": "vllm", "max_model_len": 4096},
            {"id": "b", "owned_by": "vllm", "max_model_len": 2048},
        ]});
        let served = read(&vllm, Some("b")).unwrap();
        assert_eq!((served.kind, served.context), (Kind::Vllm, Some(2048)));
        let told = read(&vllm, None).unwrap_err().to_string();
        assert!(told.contains("a, b"), "{told}");
        assert!(
            read(&vllm, Some("c"))
                .unwrap_err()
                .to_string()
                .contains("`c`")
        );
        let llama = json!({"data": [{"id": "/m.gguf", "owned_by": "llamacpp",
            "meta": {"n_vocab": 265, "n_ctx": 64, "n_ctx_train": 64}}]});
        let served = read(&llama, Some("any")).unwrap();
        assert_eq!((served.kind, served.context), (Kind::LlamaCpp, Some(64)));
        assert_eq!(
            (served.model.as_str(), served.vocabulary),
            ("/m.gguf", Some(265))
        );
        assert!(read(&json!({"models": []}), None).is_err());
    }
}
