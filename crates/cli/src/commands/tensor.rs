//! `millpond tensor create` and `ls`.

use millpond::TensorSpec;
use millpond_view as view;
use millpond_wire::message::TensorInfo;
use millpond_wire::{ErrorKind, Failure, Survives, TensorState, TransportKind};

use super::objects;
use crate::args::{CreateArgs, Global, LsArgs};
use crate::error::{Outcome, Report};
use crate::exit::Code;
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::{pond, units, users};

/// Makes a tensor without mapping it.
pub fn create(args: &CreateArgs, global: &Global, printer: &Printer) -> Outcome {
    if args.ephemeral {
        let message = "`--ephemeral` would end the tensor with this command";
        let hint = "`--ttl 10m` ends it later; a program's own tensors can end with the program";
        return Err(Report::new(Code::Usage, message).hint(hint).into());
    }
    let pond = pond::connect(global)?;
    let mut spec = TensorSpec::new(args.name.as_str(), args.dtype, args.shape.dims())
        .share(args.share.into())
        .zero(args.zero)
        .life(args.life.life())
        .transport(args.transport.into());
    if let Some(device) = &args.device {
        spec = spec.device(pond::device(&pond, device)?);
    }
    let (info, existed) = pond.reserve_or_find(spec)?;
    if existed {
        say_what_was_not_done(args, &info, printer)?;
    }
    if printer.is_json() {
        return printer.json(&view::Created { tensor: view::Tensor::from(&info), existed });
    }
    printer.line(shown_name(&info))?;
    let size = units::bytes(info.bytes);
    printer.detail(format_args!("{size} on {}, {}", info.device, info.state));
    Ok(())
}

/// The tensor that was found is as it was. `--zero` promises one that can be read at once, and a
/// transport one that can be opened so: where it cannot, that is an error. A life is said only.
fn say_what_was_not_done(args: &CreateArgs, info: &TensorInfo, printer: &Printer) -> Outcome {
    let name = shown_name(info);
    let wanted = TransportKind::from(args.transport);
    if info.transport != wanted {
        let transport = info.transport;
        let message = format!("tensor '{name}' already exists with the transport '{transport}'");
        let hint = format!("`--transport {transport}`, or another name");
        return Err(Failure::new(ErrorKind::Exists, message).hint(hint).into());
    }
    if args.zero && info.state == TensorState::Writing {
        let message = format!("tensor '{name}' already exists and is still being written");
        let hint = format!("`millpond tensor zero {name}` fills it with zeroes");
        return Err(Failure::new(ErrorKind::Exists, message).hint(hint).into());
    }
    let mut ignored = args.life.said();
    if args.zero {
        ignored.insert(0, "--zero");
    }
    if !ignored.is_empty() {
        let flags = ignored.join(", ");
        printer.note(format_args!("note: tensor '{name}' already exists; {flags} had no effect"));
    }
    Ok(())
}

pub fn list(args: &LsArgs, global: &Global, printer: &Printer) -> Outcome {
    let pattern = objects::glob(&args.prefix)?;
    let prefix = if pattern.is_some() { "" } else { &args.prefix };
    let mut tensors = pond::connect(global)?.list(prefix)?;
    if let Some(pattern) = pattern {
        tensors.retain(|info| info.name.is_some() && pattern.matches(&shown_name(info)));
    }
    tensors.retain(|info| args.all || info.state != TensorState::Deleted);
    if printer.is_json() {
        let tensors = tensors.iter().map(view::Tensor::from).collect();
        return printer.json(&view::Tensors { tensors });
    }
    if printer.is_quiet() {
        return tensors.iter().try_for_each(|info| printer.line(shown_name(info)));
    }
    printer.table(&table(&tensors, args.no_trunc))
}

/// Whether only those have it who had it before: its name is free.
pub fn has_ended(info: &TensorInfo) -> bool {
    matches!(info.state, TensorState::Deleted | TensorState::Orphan)
}

/// The name as it can be typed: with its owner where that is somebody else, or the identity.
pub fn shown_name(info: &TensorInfo) -> String {
    match &info.name {
        // Its name may be another tensor's by now.
        _ if has_ended(info) => info.tensor.to_string(),
        None => info.tensor.to_string(),
        Some(name) if info.user == users::me() || name.is_public() => name.to_string(),
        Some(name) => format!("~{}/{name}", info.user),
    }
}

fn table(tensors: &[TensorInfo], no_trunc: bool) -> Table {
    let short = |text: String, characters: usize| {
        if no_trunc { text } else { text.chars().take(characters).collect() }
    };
    // Most ponds have one kind of memory only: then these say nothing.
    let any_kind = no_trunc || tensors.iter().any(|info| info.transport != TransportKind::Vmm);
    let any_end = no_trunc || tensors.iter().any(|info| info.survives != Survives::Everything);
    let mut columns = vec![
        ("NAME", Side::Left),
        ("ID", Side::Left),
        ("DTYPE", Side::Left),
        ("SHAPE", Side::Left),
        ("SIZE", Side::Right),
        ("GPU", Side::Left),
        ("STATE", Side::Left),
        ("SHARE", Side::Left),
        ("USER", Side::Left),
        ("LEASES", Side::Right),
    ];
    columns.extend(any_kind.then_some(("TRANSPORT", Side::Left)));
    columns.extend(any_end.then_some(("SURVIVES", Side::Left)));
    columns.push(("CREATED", Side::Left));
    let mut table = Table::new(&columns)
        .dispensable(&["SHARE", "USER", "GPU", "ID", "CREATED", "TRANSPORT", "LEASES"])
        .no_trunc(no_trunc);
    for info in tensors {
        let name = match &info.name {
            // The name that it had; another tensor may have it by now.
            Some(name) if has_ended(info) => name.to_string(),
            Some(_) => shown_name(info),
            None => "-".to_owned(),
        };
        let mut cells = vec![
            name,
            short(info.tensor.to_string(), 8),
            info.dtype.to_string(),
            info.shape.to_string(),
            units::bytes(info.bytes),
            short(info.device.to_string(), 12),
            info.state.to_string(),
            info.audience.to_string(),
            users::name(info.user),
            info.leases.to_string(),
        ];
        cells.extend(any_kind.then(|| info.transport.to_string()));
        cells.extend(any_end.then(|| info.survives.to_string()));
        cells.push(format!("{} ago", units::age(info.created_unix_ms)));
        table.row(cells);
    }
    table
}

#[cfg(test)]
pub mod samples {
    use millpond_wire::{Audience, Dtype, GpuUuid, Shape, SlabId, TensorId, TensorName};

    use super::*;

    pub fn info(name: Option<&str>, user: u32) -> TensorInfo {
        TensorInfo {
            tensor: TensorId::random(),
            name: name.map(|name| TensorName::new(name).unwrap()),
            dtype: Dtype::Bf16,
            shape: Shape::new([2, 3]).unwrap(),
            device: GpuUuid([1; 16]),
            bytes: 12,
            state: TensorState::Ready,
            generation: 1,
            user,
            audience: Audience::User,
            ephemeral: false,
            created_unix_ms: units::now_unix_ms(),
            slab: SlabId::random(),
            slab_bytes: 2 << 20,
            offset: 0,
            leases: 3,
            life: millpond::Life::default(),
            transport: TransportKind::Vmm,
            adopted: false,
            survives: Survives::Everything,
            home_pid: 0,
            holds: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::info;
    use super::*;

    #[test]
    fn names_can_be_typed_as_they_are_shown() {
        let other = users::me() + 1;
        assert_eq!(shown_name(&info(Some("a/b"), users::me())), "a/b");
        assert_eq!(shown_name(&info(Some("a/b"), other)), format!("~{other}/a/b"));
        assert_eq!(shown_name(&info(Some("public/b"), other)), "public/b");
        let unnamed = info(None, other);
        assert_eq!(shown_name(&unnamed), unnamed.tensor.to_string());
    }

    #[test]
    fn a_tensor_that_has_ended_is_listed_under_the_name_that_it_had() {
        for state in [TensorState::Deleted, TensorState::Orphan] {
            let ended = TensorInfo { state, ..info(Some("acts/x"), users::me()) };
            let text = table(std::slice::from_ref(&ended), false).render();
            assert!(text.contains("acts/x") && text.contains(state.name()), "{text}");
            // Another tensor may have the name by now, so it is not what can be typed.
            assert_eq!(shown_name(&ended), ended.tensor.to_string());
        }
    }

    #[test]
    fn transports_are_listed_where_they_differ() {
        let usual = info(Some("a"), users::me());
        let text = table(std::slice::from_ref(&usual), false).render();
        assert!(!text.contains("TRANSPORT") && !text.contains("SURVIVES"), "{text}");
        let text = table(std::slice::from_ref(&usual), true).render();
        assert!(text.contains("vmm") && text.contains("everything"), "{text}");
        let pool = TensorInfo { transport: TransportKind::Mempool, ..usual.clone() };
        let text = table(&[usual.clone(), pool], false).render();
        assert!(text.contains("mempool") && !text.contains("SURVIVES"), "{text}");
        let orphan = TensorInfo {
            transport: TransportKind::Ipc,
            survives: Survives::Owner,
            adopted: true,
            state: TensorState::Orphan,
            ..usual.clone()
        };
        let text = table(&[usual, orphan], false).render();
        for word in ["TRANSPORT", "ipc", "SURVIVES", "owner", "everything", "orphan"] {
            assert!(text.contains(word), "{word} in {text}");
        }
    }

    #[test]
    fn identities_are_short_unless_asked() {
        let unnamed = info(None, 0);
        let id = unnamed.tensor.to_string();
        let text = table(std::slice::from_ref(&unnamed), false).render();
        assert!(text.contains(&id[..8]) && !text.contains(&id) && text.contains("[2,3]"));
        assert!(table(&[unnamed], true).render().contains(&id));
    }
}
