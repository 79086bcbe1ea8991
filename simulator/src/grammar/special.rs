//! The table of special tokens: data, so that any tokenizer can add them.

/// What a special token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpecialRole {
    /// Begins or ends a document or a part of it.
    Boundary,
    /// Begins a state by naming its event.
    Event,
    /// Separates the parts of a state.
    Field,
    /// A debugger action.
    Action,
    /// Where a run leaves its scope.
    Exit,
}

macro_rules! specials {
    ($($(#[$doc:meta])* $name:ident $text:literal $role:ident),* $(,)?) => {
        /// A special token of one of the grammars.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Special {
            $($(#[$doc])* $name,)*
        }

        impl Special {
            /// All of them, in the order in which a tokenizer should number them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Name without the brackets.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Text with the brackets.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("<|", $text, "|>"),)*
                }
            }

            /// What it is for.
            pub fn role(self) -> SpecialRole {
                match self {
                    $(Self::$name => SpecialRole::$role,)*
                }
            }

            /// The token with a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

specials! {
    /// Start of a document.
    BeginOfText "begin_of_text" Boundary,
    /// End of a document.
    EndOfText "end_of_text" Boundary,
    /// Start of the source code of a trace.
    TraceContextStart "trace_context_start" Boundary,
    /// Start of a state or an exit; in the CWM grammar also the end of a state.
    FrameSep "frame_sep" Boundary,
    /// End of a finished trace.
    TraceEnd "trace_end" Boundary,
    /// Start of an action; in the CWM grammar of a source line.
    ActionSep "action_sep" Field,
    /// Start of a source line.
    SrcSep "src_sep" Field,
    /// Start of locals or of a value.
    ArgSep "arg_sep" Field,
    /// A call.
    CallSep "call_sep" Event,
    /// A line.
    LineSep "line_sep" Event,
    /// A return.
    ReturnSep "return_sep" Event,
    /// An exception.
    ExceptionSep "exception_sep" Event,
    /// A call, backwards.
    InvCallSep "inv_call_sep" Event,
    /// A line, backwards.
    InvLineSep "inv_line_sep" Event,
    /// A line that called, met backwards before its callees.
    InvLineCallSep "inv_line_call_sep" Event,
    /// A return, backwards.
    InvReturnSep "inv_return_sep" Event,
    /// An exception, backwards.
    InvExceptionSep "inv_exception_sep" Event,
    /// See [`crate::Action::StepInto`].
    StepInto "step_into" Action,
    /// See [`crate::Action::StepOver`].
    StepOver "step_over" Action,
    /// See [`crate::Action::StepReturn`].
    StepReturn "step_return" Action,
    /// See [`crate::Action::Breakpoint`]; the line's text follows.
    Breakpoint "breakpoint" Action,
    /// See [`crate::Action::Continue`].
    Continue "continue" Action,
    /// See [`crate::Action::InvStepInto`].
    InvStepInto "inv_step_into" Action,
    /// See [`crate::Action::InvStepOver`].
    InvStepOver "inv_step_over" Action,
    /// See [`crate::Action::InvStepCall`].
    InvStepCall "inv_step_call" Action,
    /// See [`crate::Exit::Normal`].
    ExitNormal "exit_normal" Exit,
    /// See [`crate::Exit::Error`].
    ExitError "exit_error" Exit,
    /// See [`crate::Exit::Never`].
    ExitNever "exit_never" Exit,
    /// See [`crate::Exit::Entry`].
    InvExitEntry "inv_exit_entry" Exit,
}
