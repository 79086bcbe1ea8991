//! Whether an answer is one that may be used.

use super::answer::Said;
use super::error::RemoteError;
use crate::model::{Generated, Mask, TokenSet};

/// An answer that keeps to the mask, cut at the first token of `stop` or where the mask ends.
///
/// A server knows no masks: its probabilities are among everything.
///
/// # Errors
/// [`RemoteError::OutsideMask`], [`RemoteError::NoLogprobs`].
pub fn checked(
    said: &Said,
    stop: &[u32],
    mask: Option<&dyn Mask>,
    vocabulary: usize,
) -> Result<Generated, RemoteError> {
    let mut answer = Generated::default();
    let mut walk = mask.map(|mask| (mask.begin(), TokenSet::new(vocabulary)));
    for (at, (&token, logprob)) in said.tokens.iter().zip(&said.logprobs).enumerate() {
        if let Some((walk, allowed)) = &mut walk {
            allowed.clear();
            walk.allowed(allowed);
            if allowed.is_empty() {
                answer.stopped = true;
                return Ok(answer);
            }
            if !allowed.contains(token) {
                return Err(RemoteError::OutsideMask { at });
            }
            walk.advance(token);
        }
        answer.tokens.push(token);
        answer
            .logprobs
            .push(logprob.ok_or(RemoteError::NoLogprobs)?);
        answer.allowed.push(0.0);
        if stop.contains(&token) {
            answer.stopped = true;
            return Ok(answer);
        }
    }
    if let Some((walk, allowed)) = &mut walk {
        allowed.clear();
        walk.allowed(allowed);
        answer.stopped = allowed.is_empty();
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Trie;

    fn said(tokens: &[u32]) -> Said {
        Said {
            tokens: tokens.to_vec(),
            logprobs: vec![Some(-1.0); tokens.len()],
        }
    }

    #[test]
    fn an_answer_outside_of_the_mask_is_an_error() {
        let trie = Trie::new([vec![1, 2], vec![1, 3]], &[9]);
        let check = |tokens: &[u32]| checked(&said(tokens), &[9], Some(&trie), 10);
        assert!(check(&[1, 3, 9]).unwrap().stopped);
        assert!(!check(&[1, 3]).unwrap().stopped);
        assert_eq!(check(&[1, 4, 9]), Err(RemoteError::OutsideMask { at: 1 }));
        assert_eq!(check(&[9]), Err(RemoteError::OutsideMask { at: 0 }));
    }

    #[test]
    fn an_answer_ends_where_the_mask_or_a_stop_token_ends_it() {
        let trie = Trie::new([vec![1, 2]], &[]);
        let cut = checked(&said(&[1, 2, 5, 5]), &[], Some(&trie), 10).unwrap();
        assert_eq!((cut.tokens, cut.stopped), (vec![1, 2], true));
        let cut = checked(&said(&[1, 9, 5]), &[9], None, 10).unwrap();
        assert_eq!((cut.tokens, cut.stopped), (vec![1, 9], true));
        let mut unsure = said(&[1]);
        unsure.logprobs = vec![None];
        assert_eq!(
            checked(&unsure, &[], None, 10),
            Err(RemoteError::NoLogprobs)
        );
    }
}
