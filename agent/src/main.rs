//! The `ndbg-agent` program.

/// Freshly mapped pages are slow on some virtual machines; mimalloc keeps the ones it has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ndbg_agent::cli::main()
}
