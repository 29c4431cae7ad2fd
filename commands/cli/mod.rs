//! What the commands share: where the project is, who acts, and how an answer is printed.

pub mod attach;
mod child;
mod compaction;
mod completion;
mod context;
mod exchange;
mod external;
mod failure;
mod format;
mod news;
mod output;
mod pager;
mod project;
mod report;
mod stores;
mod summarizer;
mod walk;
mod whereabouts;
mod write;

pub use child::{Child, Stream, command_line, exit_status};
pub use compaction::{Compaction, compact, compact_due, compact_now};
pub use completion::completion_script;
pub use context::{Actor, Caller, Chance, Clocks, Context, Global, Session};
pub use exchange::{policy, policy_to_read_by};
pub use external::{external, nearest_commands};
pub use failure::{Failure, usage_failure};
pub use format::Format;
pub use news::{News, Seen, forget};
pub use output::{Text, pager_colour};
pub use pager::Pager;
pub use project::{is_everybodys, make_project, store_in};
pub use report::{EventReport, head_of, line, lines, note_erased, raw, subject};
pub use stores::{Kept, Stores};
pub use walk::{Filter, WalkArgs, branch_name};
pub use whereabouts::{FenceArg, Whereabouts, parse_token, parse_ttl, parse_wait};
pub use write::{Write, WriteArgs, facts, read_object, read_stdin, request, warn_of_secrets};
