//! `millpond tensor create` and `ls`.

use millpond::TensorSpec;
use millpond_view as view;
use millpond_wire::message::TensorInfo;
use millpond_wire::{ErrorKind, Failure, TensorState};

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
        .life(args.life.life());
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

/// The tensor that was found is as it was. `--zero` promises one that can be read at once: where it
/// cannot, that is an error. A life is said only.
fn say_what_was_not_done(args: &CreateArgs, info: &TensorInfo, printer: &Printer) -> Outcome {
    let name = shown_name(info);
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

/// The name as it can be typed: with its owner where that is somebody else, or the identity.
pub fn shown_name(info: &TensorInfo) -> String {
    match &info.name {
        // Its name may be another tensor's by now.
        _ if info.state == TensorState::Deleted => info.tensor.to_string(),
        None => info.tensor.to_string(),
        Some(name) if info.user == users::me() || name.is_public() => name.to_string(),
        Some(name) => format!("~{}/{name}", info.user),
    }
}

fn table(tensors: &[TensorInfo], no_trunc: bool) -> Table {
    let short = |text: String, characters: usize| {
        if no_trunc { text } else { text.chars().take(characters).collect() }
    };
    let mut table = Table::new(&[
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
        ("CREATED", Side::Left),
    ])
    .dispensable(&["SHARE", "USER", "GPU", "ID", "CREATED", "LEASES"])
    .no_trunc(no_trunc);
    for info in tensors {
        let name = match &info.name {
            // The name that it had; another tensor may have it by now.
            Some(name) if info.state == TensorState::Deleted => name.to_string(),
            Some(_) => shown_name(info),
            None => "-".to_owned(),
        };
        table.row(vec![
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
            format!("{} ago", units::age(info.created_unix_ms)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use millpond_wire::{
        Audience, Dtype, GpuUuid, Shape, SlabId, TensorId, TensorName, TensorState,
    };

    use super::*;

    fn info(name: Option<&str>, user: u32) -> TensorInfo {
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
        }
    }

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
    fn a_deleted_tensor_is_listed_under_the_name_that_it_had() {
        let deleted =
            TensorInfo { state: TensorState::Deleted, ..info(Some("acts/x"), users::me()) };
        let text = table(std::slice::from_ref(&deleted), false).render();
        assert!(text.contains("acts/x") && text.contains("deleted"), "{text}");
        // Another tensor may have the name by now, so it is not what can be typed.
        assert_eq!(shown_name(&deleted), deleted.tensor.to_string());
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
