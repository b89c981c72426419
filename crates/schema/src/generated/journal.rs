// Generated from journal.fbs by scripts/generate. Do not edit.
pub use root::*;

const _: () = ::planus::check_version_compatibility("planus-1.3.0");

/// The root namespace
///
/// Generated from these locations:
/// * File `schema/journal.fbs`
#[no_implicit_prelude]
#[allow(clippy::needless_lifetimes)]
mod root {
    /// The namespace `millpond`
    ///
    /// Generated from these locations:
    /// * File `schema/journal.fbs`
    pub mod millpond {
        /// The namespace `millpond.journal`
        ///
        /// Generated from these locations:
        /// * File `schema/journal.fbs`
        pub mod journal {
            /// The struct `Id` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Struct `Id` in the file `schema/journal.fbs:5`
            #[derive(Copy, Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash, Default)]
            pub struct Id {
                /// The field `high` in the struct `Id`
                pub high: u64,

                /// The field `low` in the struct `Id`
                pub low: u64,
            }

            /// # Safety
            /// The Planus compiler correctly calculates `ALIGNMENT` and `SIZE`.
            unsafe impl ::planus::Primitive for Id {
                const ALIGNMENT: usize = 8;
                const SIZE: usize = 16;
            }

            #[allow(clippy::identity_op)]
            impl ::planus::WriteAsPrimitive<Id> for Id {
                #[inline]
                fn write<const N: usize>(
                    &self,
                    cursor: ::planus::Cursor<'_, N>,
                    buffer_position: u32,
                ) {
                    let (cur, cursor) = cursor.split::<8, 8>();
                    self.high.write(cur, buffer_position - 0);
                    let (cur, cursor) = cursor.split::<8, 0>();
                    self.low.write(cur, buffer_position - 8);
                    cursor.finish([]);
                }
            }

            impl ::planus::WriteAsOffset<Id> for Id {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Id> {
                    unsafe {
                        builder.write_with(16, 7, |buffer_position, bytes| {
                            let bytes = bytes.as_mut_ptr();

                            ::planus::WriteAsPrimitive::write(
                                self,
                                ::planus::Cursor::new(
                                    &mut *(bytes as *mut [::core::mem::MaybeUninit<u8>; 16]),
                                ),
                                buffer_position,
                            );
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<Id> for Id {
                type Prepared = Self;
                #[inline]
                fn prepare(&self, _builder: &mut ::planus::Builder) -> Self {
                    *self
                }
            }

            impl ::planus::WriteAsOptional<Id> for Id {
                type Prepared = Self;
                #[inline]
                fn prepare(
                    &self,
                    _builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<Self> {
                    ::core::option::Option::Some(*self)
                }
            }

            /// Reference to a deserialized [Id].
            #[derive(Copy, Clone)]
            pub struct IdRef<'a>(::planus::ArrayWithStartOffset<'a, 16>);

            impl<'a> IdRef<'a> {
                /// Getter for the [`high` field](Id#structfield.high).
                pub fn high(&self) -> u64 {
                    let buffer = self.0.advance_as_array::<8>(0).unwrap();

                    u64::from_le_bytes(*buffer.as_array())
                }

                /// Getter for the [`low` field](Id#structfield.low).
                pub fn low(&self) -> u64 {
                    let buffer = self.0.advance_as_array::<8>(8).unwrap();

                    u64::from_le_bytes(*buffer.as_array())
                }
            }

            impl<'a> ::core::fmt::Debug for IdRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("IdRef");
                    f.field("high", &self.high());
                    f.field("low", &self.low());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::From<::planus::ArrayWithStartOffset<'a, 16>> for IdRef<'a> {
                fn from(array: ::planus::ArrayWithStartOffset<'a, 16>) -> Self {
                    Self(array)
                }
            }

            impl<'a> ::core::convert::From<IdRef<'a>> for Id {
                #[allow(unreachable_code)]
                fn from(value: IdRef<'a>) -> Self {
                    Self {
                        high: value.high(),
                        low: value.low(),
                    }
                }
            }

            impl<'a, 'b> ::core::cmp::PartialEq<IdRef<'a>> for IdRef<'b> {
                fn eq(&self, other: &IdRef<'_>) -> bool {
                    self.high() == other.high() && self.low() == other.low()
                }
            }

            impl<'a> ::core::cmp::Eq for IdRef<'a> {}
            impl<'a, 'b> ::core::cmp::PartialOrd<IdRef<'a>> for IdRef<'b> {
                fn partial_cmp(
                    &self,
                    other: &IdRef<'_>,
                ) -> ::core::option::Option<::core::cmp::Ordering> {
                    ::core::option::Option::Some(::core::cmp::Ord::cmp(self, other))
                }
            }

            impl<'a> ::core::cmp::Ord for IdRef<'a> {
                fn cmp(&self, other: &IdRef<'_>) -> ::core::cmp::Ordering {
                    self.high()
                        .cmp(&other.high())
                        .then_with(|| self.low().cmp(&other.low()))
                }
            }

            impl<'a> ::core::hash::Hash for IdRef<'a> {
                fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                    self.high().hash(state);
                    self.low().hash(state);
                }
            }

            impl<'a> ::planus::TableRead<'a> for IdRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    let buffer = buffer.advance_as_array::<16>(offset)?;
                    ::core::result::Result::Ok(Self(buffer))
                }
            }

            impl<'a> ::planus::VectorRead<'a> for IdRef<'a> {
                const STRIDE: usize = 16;

                #[inline]
                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> Self {
                    Self(unsafe { buffer.unchecked_advance_as_array(offset) })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<Id> for Id {
                const STRIDE: usize = 16;

                type Value = Id;

                #[inline]
                fn prepare(&self, _builder: &mut ::planus::Builder) -> Self::Value {
                    *self
                }

                #[inline]
                unsafe fn write_values(
                    values: &[Id],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 16];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (16 * i) as u32,
                        );
                    }
                }
            }

            /// The table `Opened` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `Opened` in the file `schema/journal.fbs:10`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Opened {
                /// The field `format` in the table `Opened`
                pub format: u16,
                /// The field `pond` in the table `Opened`
                pub pond: ::core::option::Option<self::Id>,
                /// The field `key` in the table `Opened`
                pub key: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `created_unix_ms` in the table `Opened`
                pub created_unix_ms: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Opened {
                fn default() -> Self {
                    Self {
                        format: 0,
                        pond: ::core::default::Default::default(),
                        key: ::core::default::Default::default(),
                        created_unix_ms: 0,
                    }
                }
            }

            impl Opened {
                /// Creates a [OpenedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> OpenedBuilder<()> {
                    OpenedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_format: impl ::planus::WriteAsDefault<u16, u16>,
                    field_pond: impl ::planus::WriteAsOptional<self::Id>,
                    field_key: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_created_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_format = field_format.prepare(builder, &0);
                    let prepared_pond = field_pond.prepare(builder);
                    let prepared_key = field_key.prepare(builder);
                    let prepared_created_unix_ms = field_created_unix_ms.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<12> =
                        ::core::default::Default::default();
                    if prepared_pond.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_created_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_key.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(2);
                    }
                    if prepared_format.is_some() {
                        table_writer.write_entry::<u16>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_pond) = prepared_pond {
                                object_writer.write::<_, _, 16>(&prepared_pond);
                            }
                            if let ::core::option::Option::Some(prepared_created_unix_ms) =
                                prepared_created_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_created_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_key) = prepared_key {
                                object_writer.write::<_, _, 4>(&prepared_key);
                            }
                            if let ::core::option::Option::Some(prepared_format) = prepared_format {
                                object_writer.write::<_, _, 2>(&prepared_format);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Opened>> for Opened {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Opened> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Opened>> for Opened {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Opened>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Opened> for Opened {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Opened> {
                    Opened::create(
                        builder,
                        self.format,
                        self.pond,
                        &self.key,
                        self.created_unix_ms,
                    )
                }
            }

            /// Builder for serializing an instance of the [Opened] type.
            ///
            /// Can be created using the [Opened::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct OpenedBuilder<State>(State);

            impl OpenedBuilder<()> {
                /// Setter for the [`format` field](Opened#structfield.format).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn format<T0>(self, value: T0) -> OpenedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u16, u16>,
                {
                    OpenedBuilder((value,))
                }

                /// Sets the [`format` field](Opened#structfield.format) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn format_as_default(self) -> OpenedBuilder<(::planus::DefaultValue,)> {
                    self.format(::planus::DefaultValue)
                }
            }

            impl<T0> OpenedBuilder<(T0,)> {
                /// Setter for the [`pond` field](Opened#structfield.pond).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pond<T1>(self, value: T1) -> OpenedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    OpenedBuilder((v0, value))
                }

                /// Sets the [`pond` field](Opened#structfield.pond) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pond_as_null(self) -> OpenedBuilder<(T0, ())> {
                    self.pond(())
                }
            }

            impl<T0, T1> OpenedBuilder<(T0, T1)> {
                /// Setter for the [`key` field](Opened#structfield.key).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn key<T2>(self, value: T2) -> OpenedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1) = self.0;
                    OpenedBuilder((v0, v1, value))
                }

                /// Sets the [`key` field](Opened#structfield.key) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn key_as_null(self) -> OpenedBuilder<(T0, T1, ())> {
                    self.key(())
                }
            }

            impl<T0, T1, T2> OpenedBuilder<(T0, T1, T2)> {
                /// Setter for the [`created_unix_ms` field](Opened#structfield.created_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms<T3>(self, value: T3) -> OpenedBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    OpenedBuilder((v0, v1, v2, value))
                }

                /// Sets the [`created_unix_ms` field](Opened#structfield.created_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms_as_default(
                    self,
                ) -> OpenedBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.created_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> OpenedBuilder<(T0, T1, T2, T3)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Opened].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Opened>
                where
                    Self: ::planus::WriteAsOffset<Opened>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T3: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<Opened>> for OpenedBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<Opened>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Opened> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T3: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<Opened>>
                for OpenedBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<Opened>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Opened>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T3: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<Opened> for OpenedBuilder<(T0, T1, T2, T3)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Opened> {
                    let (v0, v1, v2, v3) = &self.0;
                    Opened::create(builder, v0, v1, v2, v3)
                }
            }

            /// Reference to a deserialized [Opened].
            #[derive(Copy, Clone)]
            pub struct OpenedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> OpenedRef<'a> {
                /// Getter for the [`format` field](Opened#structfield.format).
                #[inline]
                pub fn format(&self) -> ::planus::Result<u16> {
                    ::core::result::Result::Ok(self.0.access(0, "Opened", "format")?.unwrap_or(0))
                }

                /// Getter for the [`pond` field](Opened#structfield.pond).
                #[inline]
                pub fn pond(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "Opened", "pond")
                }

                /// Getter for the [`key` field](Opened#structfield.key).
                #[inline]
                pub fn key(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(2, "Opened", "key")
                }

                /// Getter for the [`created_unix_ms` field](Opened#structfield.created_unix_ms).
                #[inline]
                pub fn created_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "Opened", "created_unix_ms")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for OpenedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("OpenedRef");
                    f.field("format", &self.format());
                    if let ::core::option::Option::Some(field_pond) = self.pond().transpose() {
                        f.field("pond", &field_pond);
                    }
                    if let ::core::option::Option::Some(field_key) = self.key().transpose() {
                        f.field("key", &field_key);
                    }
                    f.field("created_unix_ms", &self.created_unix_ms());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<OpenedRef<'a>> for Opened {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: OpenedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        format: ::core::convert::TryInto::try_into(value.format()?)?,
                        pond: value.pond()?.map(::core::convert::Into::into),
                        key: value.key()?.map(|v| v.to_vec()),
                        created_unix_ms: ::core::convert::TryInto::try_into(
                            value.created_unix_ms()?,
                        )?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for OpenedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for OpenedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[OpenedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Opened>> for Opened {
                type Value = ::planus::Offset<Opened>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Opened>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for OpenedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[OpenedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Backing` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `Backing` in the file `schema/journal.fbs:19`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Backing {
                /// The field `transport` in the table `Backing`
                pub transport: u8,
                /// The field `data` in the table `Backing`
                pub data: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `adopted` in the table `Backing`
                pub adopted: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Backing {
                fn default() -> Self {
                    Self {
                        transport: 0,
                        data: ::core::default::Default::default(),
                        adopted: false,
                    }
                }
            }

            impl Backing {
                /// Creates a [BackingBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> BackingBuilder<()> {
                    BackingBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_transport: impl ::planus::WriteAsDefault<u8, u8>,
                    field_data: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_adopted: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_transport = field_transport.prepare(builder, &0);
                    let prepared_data = field_data.prepare(builder);
                    let prepared_adopted = field_adopted.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<10> =
                        ::core::default::Default::default();
                    if prepared_data.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(1);
                    }
                    if prepared_transport.is_some() {
                        table_writer.write_entry::<u8>(0);
                    }
                    if prepared_adopted.is_some() {
                        table_writer.write_entry::<bool>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_data) = prepared_data {
                                object_writer.write::<_, _, 4>(&prepared_data);
                            }
                            if let ::core::option::Option::Some(prepared_transport) =
                                prepared_transport
                            {
                                object_writer.write::<_, _, 1>(&prepared_transport);
                            }
                            if let ::core::option::Option::Some(prepared_adopted) = prepared_adopted
                            {
                                object_writer.write::<_, _, 1>(&prepared_adopted);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Backing>> for Backing {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Backing> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Backing>> for Backing {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Backing>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Backing> for Backing {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Backing> {
                    Backing::create(builder, self.transport, &self.data, self.adopted)
                }
            }

            /// Builder for serializing an instance of the [Backing] type.
            ///
            /// Can be created using the [Backing::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct BackingBuilder<State>(State);

            impl BackingBuilder<()> {
                /// Setter for the [`transport` field](Backing#structfield.transport).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn transport<T0>(self, value: T0) -> BackingBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u8, u8>,
                {
                    BackingBuilder((value,))
                }

                /// Sets the [`transport` field](Backing#structfield.transport) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn transport_as_default(self) -> BackingBuilder<(::planus::DefaultValue,)> {
                    self.transport(::planus::DefaultValue)
                }
            }

            impl<T0> BackingBuilder<(T0,)> {
                /// Setter for the [`data` field](Backing#structfield.data).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn data<T1>(self, value: T1) -> BackingBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0,) = self.0;
                    BackingBuilder((v0, value))
                }

                /// Sets the [`data` field](Backing#structfield.data) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn data_as_null(self) -> BackingBuilder<(T0, ())> {
                    self.data(())
                }
            }

            impl<T0, T1> BackingBuilder<(T0, T1)> {
                /// Setter for the [`adopted` field](Backing#structfield.adopted).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn adopted<T2>(self, value: T2) -> BackingBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1) = self.0;
                    BackingBuilder((v0, v1, value))
                }

                /// Sets the [`adopted` field](Backing#structfield.adopted) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn adopted_as_default(
                    self,
                ) -> BackingBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.adopted(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> BackingBuilder<(T0, T1, T2)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Backing].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Backing>
                where
                    Self: ::planus::WriteAsOffset<Backing>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u8, u8>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<Backing>> for BackingBuilder<(T0, T1, T2)>
            {
                type Prepared = ::planus::Offset<Backing>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Backing> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u8, u8>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<Backing>>
                for BackingBuilder<(T0, T1, T2)>
            {
                type Prepared = ::planus::Offset<Backing>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Backing>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u8, u8>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<Backing> for BackingBuilder<(T0, T1, T2)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Backing> {
                    let (v0, v1, v2) = &self.0;
                    Backing::create(builder, v0, v1, v2)
                }
            }

            /// Reference to a deserialized [Backing].
            #[derive(Copy, Clone)]
            pub struct BackingRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> BackingRef<'a> {
                /// Getter for the [`transport` field](Backing#structfield.transport).
                #[inline]
                pub fn transport(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(0, "Backing", "transport")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`data` field](Backing#structfield.data).
                #[inline]
                pub fn data(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(1, "Backing", "data")
                }

                /// Getter for the [`adopted` field](Backing#structfield.adopted).
                #[inline]
                pub fn adopted(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "Backing", "adopted")?.unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for BackingRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("BackingRef");
                    f.field("transport", &self.transport());
                    if let ::core::option::Option::Some(field_data) = self.data().transpose() {
                        f.field("data", &field_data);
                    }
                    f.field("adopted", &self.adopted());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<BackingRef<'a>> for Backing {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: BackingRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        transport: ::core::convert::TryInto::try_into(value.transport()?)?,
                        data: value.data()?.map(|v| v.to_vec()),
                        adopted: ::core::convert::TryInto::try_into(value.adopted()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for BackingRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for BackingRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[BackingRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Backing>> for Backing {
                type Value = ::planus::Offset<Backing>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Backing>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for BackingRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[BackingRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `ClientSeen` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `ClientSeen` in the file `schema/journal.fbs:28`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct ClientSeen {
                /// The field `client` in the table `ClientSeen`
                pub client: ::core::option::Option<self::Id>,
                /// The field `pid` in the table `ClientSeen`
                pub pid: u32,
                /// The field `user` in the table `ClientSeen`
                pub user: u32,
                /// The field `group` in the table `ClientSeen`
                pub group: u32,
                /// The field `groups` in the table `ClientSeen`
                pub groups: ::core::option::Option<::planus::alloc::vec::Vec<u32>>,
                /// The field `tenant` in the table `ClientSeen`
                pub tenant: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `program` in the table `ClientSeen`
                pub program: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `since_unix_ms` in the table `ClientSeen`
                pub since_unix_ms: u64,
                /// The field `mover` in the table `ClientSeen`
                pub mover: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for ClientSeen {
                fn default() -> Self {
                    Self {
                        client: ::core::default::Default::default(),
                        pid: 0,
                        user: 0,
                        group: 0,
                        groups: ::core::default::Default::default(),
                        tenant: ::core::default::Default::default(),
                        program: ::core::default::Default::default(),
                        since_unix_ms: 0,
                        mover: false,
                    }
                }
            }

            impl ClientSeen {
                /// Creates a [ClientSeenBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClientSeenBuilder<()> {
                    ClientSeenBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_client: impl ::planus::WriteAsOptional<self::Id>,
                    field_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_group: impl ::planus::WriteAsDefault<u32, u32>,
                    field_groups: impl ::planus::WriteAsOptional<::planus::Offset<[u32]>>,
                    field_tenant: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_program: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_since_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_mover: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_client = field_client.prepare(builder);
                    let prepared_pid = field_pid.prepare(builder, &0);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_group = field_group.prepare(builder, &0);
                    let prepared_groups = field_groups.prepare(builder);
                    let prepared_tenant = field_tenant.prepare(builder);
                    let prepared_program = field_program.prepare(builder);
                    let prepared_since_unix_ms = field_since_unix_ms.prepare(builder, &0);
                    let prepared_mover = field_mover.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<22> =
                        ::core::default::Default::default();
                    if prepared_client.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_since_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(7);
                    }
                    if prepared_pid.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(2);
                    }
                    if prepared_group.is_some() {
                        table_writer.write_entry::<u32>(3);
                    }
                    if prepared_groups.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u32]>>(4);
                    }
                    if prepared_tenant.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(5);
                    }
                    if prepared_program.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(6);
                    }
                    if prepared_mover.is_some() {
                        table_writer.write_entry::<bool>(8);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_client) = prepared_client {
                                object_writer.write::<_, _, 16>(&prepared_client);
                            }
                            if let ::core::option::Option::Some(prepared_since_unix_ms) =
                                prepared_since_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_since_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_pid) = prepared_pid {
                                object_writer.write::<_, _, 4>(&prepared_pid);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_group) = prepared_group {
                                object_writer.write::<_, _, 4>(&prepared_group);
                            }
                            if let ::core::option::Option::Some(prepared_groups) = prepared_groups {
                                object_writer.write::<_, _, 4>(&prepared_groups);
                            }
                            if let ::core::option::Option::Some(prepared_tenant) = prepared_tenant {
                                object_writer.write::<_, _, 4>(&prepared_tenant);
                            }
                            if let ::core::option::Option::Some(prepared_program) = prepared_program
                            {
                                object_writer.write::<_, _, 4>(&prepared_program);
                            }
                            if let ::core::option::Option::Some(prepared_mover) = prepared_mover {
                                object_writer.write::<_, _, 1>(&prepared_mover);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<ClientSeen>> for ClientSeen {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientSeen> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<ClientSeen>> for ClientSeen {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientSeen>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<ClientSeen> for ClientSeen {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientSeen> {
                    ClientSeen::create(
                        builder,
                        self.client,
                        self.pid,
                        self.user,
                        self.group,
                        &self.groups,
                        &self.tenant,
                        &self.program,
                        self.since_unix_ms,
                        self.mover,
                    )
                }
            }

            /// Builder for serializing an instance of the [ClientSeen] type.
            ///
            /// Can be created using the [ClientSeen::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClientSeenBuilder<State>(State);

            impl ClientSeenBuilder<()> {
                /// Setter for the [`client` field](ClientSeen#structfield.client).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client<T0>(self, value: T0) -> ClientSeenBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    ClientSeenBuilder((value,))
                }

                /// Sets the [`client` field](ClientSeen#structfield.client) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client_as_null(self) -> ClientSeenBuilder<((),)> {
                    self.client(())
                }
            }

            impl<T0> ClientSeenBuilder<(T0,)> {
                /// Setter for the [`pid` field](ClientSeen#structfield.pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid<T1>(self, value: T1) -> ClientSeenBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    ClientSeenBuilder((v0, value))
                }

                /// Sets the [`pid` field](ClientSeen#structfield.pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid_as_default(self) -> ClientSeenBuilder<(T0, ::planus::DefaultValue)> {
                    self.pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1> ClientSeenBuilder<(T0, T1)> {
                /// Setter for the [`user` field](ClientSeen#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T2>(self, value: T2) -> ClientSeenBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1) = self.0;
                    ClientSeenBuilder((v0, v1, value))
                }

                /// Sets the [`user` field](ClientSeen#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> ClientSeenBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> ClientSeenBuilder<(T0, T1, T2)> {
                /// Setter for the [`group` field](ClientSeen#structfield.group).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group<T3>(self, value: T3) -> ClientSeenBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2) = self.0;
                    ClientSeenBuilder((v0, v1, v2, value))
                }

                /// Sets the [`group` field](ClientSeen#structfield.group) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group_as_default(
                    self,
                ) -> ClientSeenBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.group(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> ClientSeenBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`groups` field](ClientSeen#structfield.groups).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn groups<T4>(self, value: T4) -> ClientSeenBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<[u32]>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    ClientSeenBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`groups` field](ClientSeen#structfield.groups) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn groups_as_null(self) -> ClientSeenBuilder<(T0, T1, T2, T3, ())> {
                    self.groups(())
                }
            }

            impl<T0, T1, T2, T3, T4> ClientSeenBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`tenant` field](ClientSeen#structfield.tenant).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant<T5>(self, value: T5) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    ClientSeenBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`tenant` field](ClientSeen#structfield.tenant) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant_as_null(self) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.tenant(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`program` field](ClientSeen#structfield.program).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program<T6>(
                    self,
                    value: T6,
                ) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    ClientSeenBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`program` field](ClientSeen#structfield.program) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program_as_null(self) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.program(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`since_unix_ms` field](ClientSeen#structfield.since_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms<T7>(
                    self,
                    value: T7,
                ) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    ClientSeenBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`since_unix_ms` field](ClientSeen#structfield.since_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms_as_default(
                    self,
                ) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.since_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`mover` field](ClientSeen#structfield.mover).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mover<T8>(
                    self,
                    value: T8,
                ) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    ClientSeenBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`mover` field](ClientSeen#structfield.mover) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mover_as_default(
                    self,
                ) -> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.mover(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [ClientSeen].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientSeen>
                where
                    Self: ::planus::WriteAsOffset<ClientSeen>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u32]>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<ClientSeen>>
                for ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                type Prepared = ::planus::Offset<ClientSeen>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientSeen> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u32]>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<ClientSeen>>
                for ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                type Prepared = ::planus::Offset<ClientSeen>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientSeen>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u32]>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<ClientSeen>
                for ClientSeenBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientSeen> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = &self.0;
                    ClientSeen::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8)
                }
            }

            /// Reference to a deserialized [ClientSeen].
            #[derive(Copy, Clone)]
            pub struct ClientSeenRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClientSeenRef<'a> {
                /// Getter for the [`client` field](ClientSeen#structfield.client).
                #[inline]
                pub fn client(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "ClientSeen", "client")
                }

                /// Getter for the [`pid` field](ClientSeen#structfield.pid).
                #[inline]
                pub fn pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(1, "ClientSeen", "pid")?.unwrap_or(0))
                }

                /// Getter for the [`user` field](ClientSeen#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(2, "ClientSeen", "user")?.unwrap_or(0))
                }

                /// Getter for the [`group` field](ClientSeen#structfield.group).
                #[inline]
                pub fn group(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "ClientSeen", "group")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`groups` field](ClientSeen#structfield.groups).
                #[inline]
                pub fn groups(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u32>>>
                {
                    self.0.access(4, "ClientSeen", "groups")
                }

                /// Getter for the [`tenant` field](ClientSeen#structfield.tenant).
                #[inline]
                pub fn tenant(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(5, "ClientSeen", "tenant")
                }

                /// Getter for the [`program` field](ClientSeen#structfield.program).
                #[inline]
                pub fn program(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(6, "ClientSeen", "program")
                }

                /// Getter for the [`since_unix_ms` field](ClientSeen#structfield.since_unix_ms).
                #[inline]
                pub fn since_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(7, "ClientSeen", "since_unix_ms")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`mover` field](ClientSeen#structfield.mover).
                #[inline]
                pub fn mover(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(8, "ClientSeen", "mover")?.unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for ClientSeenRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClientSeenRef");
                    if let ::core::option::Option::Some(field_client) = self.client().transpose() {
                        f.field("client", &field_client);
                    }
                    f.field("pid", &self.pid());
                    f.field("user", &self.user());
                    f.field("group", &self.group());
                    if let ::core::option::Option::Some(field_groups) = self.groups().transpose() {
                        f.field("groups", &field_groups);
                    }
                    if let ::core::option::Option::Some(field_tenant) = self.tenant().transpose() {
                        f.field("tenant", &field_tenant);
                    }
                    if let ::core::option::Option::Some(field_program) = self.program().transpose()
                    {
                        f.field("program", &field_program);
                    }
                    f.field("since_unix_ms", &self.since_unix_ms());
                    f.field("mover", &self.mover());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClientSeenRef<'a>> for ClientSeen {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ClientSeenRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        client: value.client()?.map(::core::convert::Into::into),
                        pid: ::core::convert::TryInto::try_into(value.pid()?)?,
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        group: ::core::convert::TryInto::try_into(value.group()?)?,
                        groups: if let ::core::option::Option::Some(groups) = value.groups()? {
                            ::core::option::Option::Some(groups.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        tenant: value.tenant()?.map(::core::convert::Into::into),
                        program: value.program()?.map(::core::convert::Into::into),
                        since_unix_ms: ::core::convert::TryInto::try_into(value.since_unix_ms()?)?,
                        mover: ::core::convert::TryInto::try_into(value.mover()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClientSeenRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for ClientSeenRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClientSeenRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<ClientSeen>> for ClientSeen {
                type Value = ::planus::Offset<ClientSeen>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<ClientSeen>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for ClientSeenRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClientSeenRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `ClientGone` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `ClientGone` in the file `schema/journal.fbs:41`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct ClientGone {
                /// The field `client` in the table `ClientGone`
                pub client: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for ClientGone {
                fn default() -> Self {
                    Self {
                        client: ::core::default::Default::default(),
                    }
                }
            }

            impl ClientGone {
                /// Creates a [ClientGoneBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClientGoneBuilder<()> {
                    ClientGoneBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_client: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_client = field_client.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_client.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_client) = prepared_client {
                                object_writer.write::<_, _, 16>(&prepared_client);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<ClientGone>> for ClientGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<ClientGone>> for ClientGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<ClientGone> for ClientGone {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientGone> {
                    ClientGone::create(builder, self.client)
                }
            }

            /// Builder for serializing an instance of the [ClientGone] type.
            ///
            /// Can be created using the [ClientGone::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClientGoneBuilder<State>(State);

            impl ClientGoneBuilder<()> {
                /// Setter for the [`client` field](ClientGone#structfield.client).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client<T0>(self, value: T0) -> ClientGoneBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    ClientGoneBuilder((value,))
                }

                /// Sets the [`client` field](ClientGone#structfield.client) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client_as_null(self) -> ClientGoneBuilder<((),)> {
                    self.client(())
                }
            }

            impl<T0> ClientGoneBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [ClientGone].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientGone>
                where
                    Self: ::planus::WriteAsOffset<ClientGone>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<ClientGone>> for ClientGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<ClientGone>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<ClientGone>>
                for ClientGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<ClientGone>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<ClientGone>
                for ClientGoneBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientGone> {
                    let (v0,) = &self.0;
                    ClientGone::create(builder, v0)
                }
            }

            /// Reference to a deserialized [ClientGone].
            #[derive(Copy, Clone)]
            pub struct ClientGoneRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClientGoneRef<'a> {
                /// Getter for the [`client` field](ClientGone#structfield.client).
                #[inline]
                pub fn client(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "ClientGone", "client")
                }
            }

            impl<'a> ::core::fmt::Debug for ClientGoneRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClientGoneRef");
                    if let ::core::option::Option::Some(field_client) = self.client().transpose() {
                        f.field("client", &field_client);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClientGoneRef<'a>> for ClientGone {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ClientGoneRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        client: value.client()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClientGoneRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for ClientGoneRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClientGoneRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<ClientGone>> for ClientGone {
                type Value = ::planus::Offset<ClientGone>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<ClientGone>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for ClientGoneRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClientGoneRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `SlabMade` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `SlabMade` in the file `schema/journal.fbs:45`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct SlabMade {
                /// The field `slab` in the table `SlabMade`
                pub slab: ::core::option::Option<self::Id>,
                /// The field `device` in the table `SlabMade`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `bytes` in the table `SlabMade`
                pub bytes: u64,
                /// The field `class` in the table `SlabMade`
                pub class: u8,
                /// The field `tenant` in the table `SlabMade`
                pub tenant: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `user` in the table `SlabMade`
                pub user: u32,
                /// The field `group` in the table `SlabMade`
                pub group: u32,
                /// The field `audience` in the table `SlabMade`
                pub audience: u8,
                /// The field `backing` in the table `SlabMade`
                pub backing: ::core::option::Option<::planus::alloc::boxed::Box<self::Backing>>,
                /// The field `borrowers_recorded` in the table `SlabMade`
                pub borrowers_recorded: bool,
                /// The field `home` in the table `SlabMade`
                pub home: ::core::option::Option<self::Id>,
                /// The field `event` in the table `SlabMade`
                pub event: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for SlabMade {
                fn default() -> Self {
                    Self {
                        slab: ::core::default::Default::default(),
                        device: ::core::default::Default::default(),
                        bytes: 0,
                        class: 0,
                        tenant: ::core::default::Default::default(),
                        user: 0,
                        group: 0,
                        audience: 0,
                        backing: ::core::default::Default::default(),
                        borrowers_recorded: false,
                        home: ::core::default::Default::default(),
                        event: ::core::default::Default::default(),
                    }
                }
            }

            impl SlabMade {
                /// Creates a [SlabMadeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> SlabMadeBuilder<()> {
                    SlabMadeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_slab: impl ::planus::WriteAsOptional<self::Id>,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_class: impl ::planus::WriteAsDefault<u8, u8>,
                    field_tenant: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_group: impl ::planus::WriteAsDefault<u32, u32>,
                    field_audience: impl ::planus::WriteAsDefault<u8, u8>,
                    field_backing: impl ::planus::WriteAsOptional<::planus::Offset<self::Backing>>,
                    field_borrowers_recorded: impl ::planus::WriteAsDefault<bool, bool>,
                    field_home: impl ::planus::WriteAsOptional<self::Id>,
                    field_event: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_slab = field_slab.prepare(builder);
                    let prepared_device = field_device.prepare(builder);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_class = field_class.prepare(builder, &0);
                    let prepared_tenant = field_tenant.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_group = field_group.prepare(builder, &0);
                    let prepared_audience = field_audience.prepare(builder, &0);
                    let prepared_backing = field_backing.prepare(builder);
                    let prepared_borrowers_recorded =
                        field_borrowers_recorded.prepare(builder, &false);
                    let prepared_home = field_home.prepare(builder);
                    let prepared_event = field_event.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<28> =
                        ::core::default::Default::default();
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_home.is_some() {
                        table_writer.write_entry::<self::Id>(10);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(1);
                    }
                    if prepared_tenant.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(4);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(5);
                    }
                    if prepared_group.is_some() {
                        table_writer.write_entry::<u32>(6);
                    }
                    if prepared_backing.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::Backing>>(8);
                    }
                    if prepared_event.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(11);
                    }
                    if prepared_class.is_some() {
                        table_writer.write_entry::<u8>(3);
                    }
                    if prepared_audience.is_some() {
                        table_writer.write_entry::<u8>(7);
                    }
                    if prepared_borrowers_recorded.is_some() {
                        table_writer.write_entry::<bool>(9);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 16>(&prepared_slab);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_home) = prepared_home {
                                object_writer.write::<_, _, 16>(&prepared_home);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_tenant) = prepared_tenant {
                                object_writer.write::<_, _, 4>(&prepared_tenant);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_group) = prepared_group {
                                object_writer.write::<_, _, 4>(&prepared_group);
                            }
                            if let ::core::option::Option::Some(prepared_backing) = prepared_backing
                            {
                                object_writer.write::<_, _, 4>(&prepared_backing);
                            }
                            if let ::core::option::Option::Some(prepared_event) = prepared_event {
                                object_writer.write::<_, _, 4>(&prepared_event);
                            }
                            if let ::core::option::Option::Some(prepared_class) = prepared_class {
                                object_writer.write::<_, _, 1>(&prepared_class);
                            }
                            if let ::core::option::Option::Some(prepared_audience) =
                                prepared_audience
                            {
                                object_writer.write::<_, _, 1>(&prepared_audience);
                            }
                            if let ::core::option::Option::Some(prepared_borrowers_recorded) =
                                prepared_borrowers_recorded
                            {
                                object_writer.write::<_, _, 1>(&prepared_borrowers_recorded);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<SlabMade>> for SlabMade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabMade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<SlabMade>> for SlabMade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabMade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<SlabMade> for SlabMade {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabMade> {
                    SlabMade::create(
                        builder,
                        self.slab,
                        &self.device,
                        self.bytes,
                        self.class,
                        &self.tenant,
                        self.user,
                        self.group,
                        self.audience,
                        &self.backing,
                        self.borrowers_recorded,
                        self.home,
                        &self.event,
                    )
                }
            }

            /// Builder for serializing an instance of the [SlabMade] type.
            ///
            /// Can be created using the [SlabMade::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct SlabMadeBuilder<State>(State);

            impl SlabMadeBuilder<()> {
                /// Setter for the [`slab` field](SlabMade#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T0>(self, value: T0) -> SlabMadeBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    SlabMadeBuilder((value,))
                }

                /// Sets the [`slab` field](SlabMade#structfield.slab) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_null(self) -> SlabMadeBuilder<((),)> {
                    self.slab(())
                }
            }

            impl<T0> SlabMadeBuilder<(T0,)> {
                /// Setter for the [`device` field](SlabMade#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T1>(self, value: T1) -> SlabMadeBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0,) = self.0;
                    SlabMadeBuilder((v0, value))
                }

                /// Sets the [`device` field](SlabMade#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> SlabMadeBuilder<(T0, ())> {
                    self.device(())
                }
            }

            impl<T0, T1> SlabMadeBuilder<(T0, T1)> {
                /// Setter for the [`bytes` field](SlabMade#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T2>(self, value: T2) -> SlabMadeBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1) = self.0;
                    SlabMadeBuilder((v0, v1, value))
                }

                /// Sets the [`bytes` field](SlabMade#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(self) -> SlabMadeBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> SlabMadeBuilder<(T0, T1, T2)> {
                /// Setter for the [`class` field](SlabMade#structfield.class).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn class<T3>(self, value: T3) -> SlabMadeBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2) = self.0;
                    SlabMadeBuilder((v0, v1, v2, value))
                }

                /// Sets the [`class` field](SlabMade#structfield.class) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn class_as_default(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.class(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> SlabMadeBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`tenant` field](SlabMade#structfield.tenant).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant<T4>(self, value: T4) -> SlabMadeBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`tenant` field](SlabMade#structfield.tenant) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant_as_null(self) -> SlabMadeBuilder<(T0, T1, T2, T3, ())> {
                    self.tenant(())
                }
            }

            impl<T0, T1, T2, T3, T4> SlabMadeBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`user` field](SlabMade#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T5>(self, value: T5) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`user` field](SlabMade#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`group` field](SlabMade#structfield.group).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group<T6>(self, value: T6) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`group` field](SlabMade#structfield.group) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group_as_default(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.group(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`audience` field](SlabMade#structfield.audience).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience<T7>(
                    self,
                    value: T7,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`audience` field](SlabMade#structfield.audience) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience_as_default(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.audience(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`backing` field](SlabMade#structfield.backing).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn backing<T8>(
                    self,
                    value: T8,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsOptional<::planus::Offset<self::Backing>>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`backing` field](SlabMade#structfield.backing) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn backing_as_null(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ())> {
                    self.backing(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Setter for the [`borrowers_recorded` field](SlabMade#structfield.borrowers_recorded).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn borrowers_recorded<T9>(
                    self,
                    value: T9,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`borrowers_recorded` field](SlabMade#structfield.borrowers_recorded) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn borrowers_recorded_as_default(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ::planus::DefaultValue)>
                {
                    self.borrowers_recorded(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`home` field](SlabMade#structfield.home).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn home<T10>(
                    self,
                    value: T10,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`home` field](SlabMade#structfield.home) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn home_as_null(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, ())> {
                    self.home(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Setter for the [`event` field](SlabMade#structfield.event).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn event<T11>(
                    self,
                    value: T11,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
                where
                    T11: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = self.0;
                    SlabMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, value))
                }

                /// Sets the [`event` field](SlabMade#structfield.event) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn event_as_null(
                    self,
                ) -> SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, ())>
                {
                    self.event(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11>
                SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [SlabMade].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabMade>
                where
                    Self: ::planus::WriteAsOffset<SlabMade>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u8, u8>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsOptional<::planus::Offset<self::Backing>>,
                T9: ::planus::WriteAsDefault<bool, bool>,
                T10: ::planus::WriteAsOptional<self::Id>,
                T11: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAs<::planus::Offset<SlabMade>>
                for SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                type Prepared = ::planus::Offset<SlabMade>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabMade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u8, u8>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsOptional<::planus::Offset<self::Backing>>,
                T9: ::planus::WriteAsDefault<bool, bool>,
                T10: ::planus::WriteAsOptional<self::Id>,
                T11: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAsOptional<::planus::Offset<SlabMade>>
                for SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                type Prepared = ::planus::Offset<SlabMade>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabMade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u8, u8>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsOptional<::planus::Offset<self::Backing>>,
                T9: ::planus::WriteAsDefault<bool, bool>,
                T10: ::planus::WriteAsOptional<self::Id>,
                T11: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAsOffset<SlabMade>
                for SlabMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabMade> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) = &self.0;
                    SlabMade::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11)
                }
            }

            /// Reference to a deserialized [SlabMade].
            #[derive(Copy, Clone)]
            pub struct SlabMadeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> SlabMadeRef<'a> {
                /// Getter for the [`slab` field](SlabMade#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "SlabMade", "slab")
                }

                /// Getter for the [`device` field](SlabMade#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(1, "SlabMade", "device")
                }

                /// Getter for the [`bytes` field](SlabMade#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(2, "SlabMade", "bytes")?.unwrap_or(0))
                }

                /// Getter for the [`class` field](SlabMade#structfield.class).
                #[inline]
                pub fn class(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(3, "SlabMade", "class")?.unwrap_or(0))
                }

                /// Getter for the [`tenant` field](SlabMade#structfield.tenant).
                #[inline]
                pub fn tenant(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(4, "SlabMade", "tenant")
                }

                /// Getter for the [`user` field](SlabMade#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(5, "SlabMade", "user")?.unwrap_or(0))
                }

                /// Getter for the [`group` field](SlabMade#structfield.group).
                #[inline]
                pub fn group(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(6, "SlabMade", "group")?.unwrap_or(0))
                }

                /// Getter for the [`audience` field](SlabMade#structfield.audience).
                #[inline]
                pub fn audience(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "SlabMade", "audience")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`backing` field](SlabMade#structfield.backing).
                #[inline]
                pub fn backing(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::BackingRef<'a>>>
                {
                    self.0.access(8, "SlabMade", "backing")
                }

                /// Getter for the [`borrowers_recorded` field](SlabMade#structfield.borrowers_recorded).
                #[inline]
                pub fn borrowers_recorded(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(9, "SlabMade", "borrowers_recorded")?
                            .unwrap_or(false),
                    )
                }

                /// Getter for the [`home` field](SlabMade#structfield.home).
                #[inline]
                pub fn home(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(10, "SlabMade", "home")
                }

                /// Getter for the [`event` field](SlabMade#structfield.event).
                #[inline]
                pub fn event(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(11, "SlabMade", "event")
                }
            }

            impl<'a> ::core::fmt::Debug for SlabMadeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("SlabMadeRef");
                    if let ::core::option::Option::Some(field_slab) = self.slab().transpose() {
                        f.field("slab", &field_slab);
                    }
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    f.field("bytes", &self.bytes());
                    f.field("class", &self.class());
                    if let ::core::option::Option::Some(field_tenant) = self.tenant().transpose() {
                        f.field("tenant", &field_tenant);
                    }
                    f.field("user", &self.user());
                    f.field("group", &self.group());
                    f.field("audience", &self.audience());
                    if let ::core::option::Option::Some(field_backing) = self.backing().transpose()
                    {
                        f.field("backing", &field_backing);
                    }
                    f.field("borrowers_recorded", &self.borrowers_recorded());
                    if let ::core::option::Option::Some(field_home) = self.home().transpose() {
                        f.field("home", &field_home);
                    }
                    if let ::core::option::Option::Some(field_event) = self.event().transpose() {
                        f.field("event", &field_event);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<SlabMadeRef<'a>> for SlabMade {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: SlabMadeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        slab: value.slab()?.map(::core::convert::Into::into),
                        device: value.device()?.map(|v| v.to_vec()),
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        class: ::core::convert::TryInto::try_into(value.class()?)?,
                        tenant: value.tenant()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        group: ::core::convert::TryInto::try_into(value.group()?)?,
                        audience: ::core::convert::TryInto::try_into(value.audience()?)?,
                        backing: if let ::core::option::Option::Some(backing) = value.backing()? {
                            ::core::option::Option::Some(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryInto::try_into(backing)?,
                            ))
                        } else {
                            ::core::option::Option::None
                        },
                        borrowers_recorded: ::core::convert::TryInto::try_into(
                            value.borrowers_recorded()?,
                        )?,
                        home: value.home()?.map(::core::convert::Into::into),
                        event: value.event()?.map(|v| v.to_vec()),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for SlabMadeRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for SlabMadeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[SlabMadeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<SlabMade>> for SlabMade {
                type Value = ::planus::Offset<SlabMade>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<SlabMade>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for SlabMadeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[SlabMadeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `SlabBorrowed` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `SlabBorrowed` in the file `schema/journal.fbs:64`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct SlabBorrowed {
                /// The field `slab` in the table `SlabBorrowed`
                pub slab: ::core::option::Option<self::Id>,
                /// The field `user` in the table `SlabBorrowed`
                pub user: u32,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for SlabBorrowed {
                fn default() -> Self {
                    Self {
                        slab: ::core::default::Default::default(),
                        user: 0,
                    }
                }
            }

            impl SlabBorrowed {
                /// Creates a [SlabBorrowedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> SlabBorrowedBuilder<()> {
                    SlabBorrowedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_slab: impl ::planus::WriteAsOptional<self::Id>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                ) -> ::planus::Offset<Self> {
                    let prepared_slab = field_slab.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 16>(&prepared_slab);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<SlabBorrowed>> for SlabBorrowed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabBorrowed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<SlabBorrowed>> for SlabBorrowed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabBorrowed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<SlabBorrowed> for SlabBorrowed {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabBorrowed> {
                    SlabBorrowed::create(builder, self.slab, self.user)
                }
            }

            /// Builder for serializing an instance of the [SlabBorrowed] type.
            ///
            /// Can be created using the [SlabBorrowed::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct SlabBorrowedBuilder<State>(State);

            impl SlabBorrowedBuilder<()> {
                /// Setter for the [`slab` field](SlabBorrowed#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T0>(self, value: T0) -> SlabBorrowedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    SlabBorrowedBuilder((value,))
                }

                /// Sets the [`slab` field](SlabBorrowed#structfield.slab) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_null(self) -> SlabBorrowedBuilder<((),)> {
                    self.slab(())
                }
            }

            impl<T0> SlabBorrowedBuilder<(T0,)> {
                /// Setter for the [`user` field](SlabBorrowed#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T1>(self, value: T1) -> SlabBorrowedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    SlabBorrowedBuilder((v0, value))
                }

                /// Sets the [`user` field](SlabBorrowed#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(self) -> SlabBorrowedBuilder<(T0, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1> SlabBorrowedBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [SlabBorrowed].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabBorrowed>
                where
                    Self: ::planus::WriteAsOffset<SlabBorrowed>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsDefault<u32, u32>>
                ::planus::WriteAs<::planus::Offset<SlabBorrowed>>
                for SlabBorrowedBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<SlabBorrowed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabBorrowed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsDefault<u32, u32>>
                ::planus::WriteAsOptional<::planus::Offset<SlabBorrowed>>
                for SlabBorrowedBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<SlabBorrowed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabBorrowed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsDefault<u32, u32>>
                ::planus::WriteAsOffset<SlabBorrowed> for SlabBorrowedBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabBorrowed> {
                    let (v0, v1) = &self.0;
                    SlabBorrowed::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [SlabBorrowed].
            #[derive(Copy, Clone)]
            pub struct SlabBorrowedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> SlabBorrowedRef<'a> {
                /// Getter for the [`slab` field](SlabBorrowed#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "SlabBorrowed", "slab")
                }

                /// Getter for the [`user` field](SlabBorrowed#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "SlabBorrowed", "user")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for SlabBorrowedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("SlabBorrowedRef");
                    if let ::core::option::Option::Some(field_slab) = self.slab().transpose() {
                        f.field("slab", &field_slab);
                    }
                    f.field("user", &self.user());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<SlabBorrowedRef<'a>> for SlabBorrowed {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: SlabBorrowedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        slab: value.slab()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for SlabBorrowedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for SlabBorrowedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[SlabBorrowedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<SlabBorrowed>> for SlabBorrowed {
                type Value = ::planus::Offset<SlabBorrowed>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<SlabBorrowed>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for SlabBorrowedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[SlabBorrowedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `SlabTainted` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `SlabTainted` in the file `schema/journal.fbs:70`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct SlabTainted {
                /// The field `slab` in the table `SlabTainted`
                pub slab: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for SlabTainted {
                fn default() -> Self {
                    Self {
                        slab: ::core::default::Default::default(),
                    }
                }
            }

            impl SlabTainted {
                /// Creates a [SlabTaintedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> SlabTaintedBuilder<()> {
                    SlabTaintedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_slab: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_slab = field_slab.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 16>(&prepared_slab);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<SlabTainted>> for SlabTainted {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabTainted> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<SlabTainted>> for SlabTainted {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabTainted>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<SlabTainted> for SlabTainted {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabTainted> {
                    SlabTainted::create(builder, self.slab)
                }
            }

            /// Builder for serializing an instance of the [SlabTainted] type.
            ///
            /// Can be created using the [SlabTainted::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct SlabTaintedBuilder<State>(State);

            impl SlabTaintedBuilder<()> {
                /// Setter for the [`slab` field](SlabTainted#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T0>(self, value: T0) -> SlabTaintedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    SlabTaintedBuilder((value,))
                }

                /// Sets the [`slab` field](SlabTainted#structfield.slab) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_null(self) -> SlabTaintedBuilder<((),)> {
                    self.slab(())
                }
            }

            impl<T0> SlabTaintedBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [SlabTainted].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabTainted>
                where
                    Self: ::planus::WriteAsOffset<SlabTainted>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<SlabTainted>> for SlabTaintedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<SlabTainted>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabTainted> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<SlabTainted>>
                for SlabTaintedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<SlabTainted>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabTainted>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<SlabTainted>
                for SlabTaintedBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<SlabTainted> {
                    let (v0,) = &self.0;
                    SlabTainted::create(builder, v0)
                }
            }

            /// Reference to a deserialized [SlabTainted].
            #[derive(Copy, Clone)]
            pub struct SlabTaintedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> SlabTaintedRef<'a> {
                /// Getter for the [`slab` field](SlabTainted#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "SlabTainted", "slab")
                }
            }

            impl<'a> ::core::fmt::Debug for SlabTaintedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("SlabTaintedRef");
                    if let ::core::option::Option::Some(field_slab) = self.slab().transpose() {
                        f.field("slab", &field_slab);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<SlabTaintedRef<'a>> for SlabTainted {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: SlabTaintedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        slab: value.slab()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for SlabTaintedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for SlabTaintedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[SlabTaintedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<SlabTainted>> for SlabTainted {
                type Value = ::planus::Offset<SlabTainted>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<SlabTainted>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for SlabTaintedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[SlabTaintedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `SlabGone` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `SlabGone` in the file `schema/journal.fbs:74`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct SlabGone {
                /// The field `slab` in the table `SlabGone`
                pub slab: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for SlabGone {
                fn default() -> Self {
                    Self {
                        slab: ::core::default::Default::default(),
                    }
                }
            }

            impl SlabGone {
                /// Creates a [SlabGoneBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> SlabGoneBuilder<()> {
                    SlabGoneBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_slab: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_slab = field_slab.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 16>(&prepared_slab);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<SlabGone>> for SlabGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<SlabGone>> for SlabGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<SlabGone> for SlabGone {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabGone> {
                    SlabGone::create(builder, self.slab)
                }
            }

            /// Builder for serializing an instance of the [SlabGone] type.
            ///
            /// Can be created using the [SlabGone::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct SlabGoneBuilder<State>(State);

            impl SlabGoneBuilder<()> {
                /// Setter for the [`slab` field](SlabGone#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T0>(self, value: T0) -> SlabGoneBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    SlabGoneBuilder((value,))
                }

                /// Sets the [`slab` field](SlabGone#structfield.slab) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_null(self) -> SlabGoneBuilder<((),)> {
                    self.slab(())
                }
            }

            impl<T0> SlabGoneBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [SlabGone].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabGone>
                where
                    Self: ::planus::WriteAsOffset<SlabGone>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<SlabGone>> for SlabGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<SlabGone>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<SlabGone>> for SlabGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<SlabGone>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<SlabGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<SlabGone>
                for SlabGoneBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<SlabGone> {
                    let (v0,) = &self.0;
                    SlabGone::create(builder, v0)
                }
            }

            /// Reference to a deserialized [SlabGone].
            #[derive(Copy, Clone)]
            pub struct SlabGoneRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> SlabGoneRef<'a> {
                /// Getter for the [`slab` field](SlabGone#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "SlabGone", "slab")
                }
            }

            impl<'a> ::core::fmt::Debug for SlabGoneRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("SlabGoneRef");
                    if let ::core::option::Option::Some(field_slab) = self.slab().transpose() {
                        f.field("slab", &field_slab);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<SlabGoneRef<'a>> for SlabGone {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: SlabGoneRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        slab: value.slab()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for SlabGoneRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for SlabGoneRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[SlabGoneRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<SlabGone>> for SlabGone {
                type Value = ::planus::Offset<SlabGone>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<SlabGone>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for SlabGoneRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[SlabGoneRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorMade` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `TensorMade` in the file `schema/journal.fbs:78`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct TensorMade {
                /// The field `tensor` in the table `TensorMade`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `name` in the table `TensorMade`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `dtype` in the table `TensorMade`
                pub dtype: u8,
                /// The field `shape` in the table `TensorMade`
                pub shape: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
                /// The field `slab` in the table `TensorMade`
                pub slab: ::core::option::Option<self::Id>,
                /// The field `offset` in the table `TensorMade`
                pub offset: u64,
                /// The field `bytes` in the table `TensorMade`
                pub bytes: u64,
                /// The field `ready` in the table `TensorMade`
                pub ready: bool,
                /// The field `generation` in the table `TensorMade`
                pub generation: u64,
                /// The field `ephemeral` in the table `TensorMade`
                pub ephemeral: bool,
                /// The field `creator` in the table `TensorMade`
                pub creator: ::core::option::Option<self::Id>,
                /// The field `created_unix_ms` in the table `TensorMade`
                pub created_unix_ms: u64,
                /// The field `published` in the table `TensorMade`
                pub published: ::core::option::Option<self::Id>,
                /// The field `deleted` in the table `TensorMade`
                pub deleted: bool,
                /// The field `expires_boot_ms` in the table `TensorMade`
                pub expires_boot_ms: ::core::option::Option<u64>,
                /// The field `linger_ms` in the table `TensorMade`
                pub linger_ms: ::core::option::Option<u64>,
                /// The field `accesses_left` in the table `TensorMade`
                pub accesses_left: ::core::option::Option<u64>,
                /// The field `part` in the table `TensorMade`
                pub part: bool,
                /// The field `renamed` in the table `TensorMade`
                pub renamed: ::core::option::Option<self::Id>,
                /// The field `held` in the table `TensorMade`
                pub held: bool,
                /// The field `hold` in the table `TensorMade`
                pub hold: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorMade {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        dtype: 0,
                        shape: ::core::default::Default::default(),
                        slab: ::core::default::Default::default(),
                        offset: 0,
                        bytes: 0,
                        ready: false,
                        generation: 0,
                        ephemeral: false,
                        creator: ::core::default::Default::default(),
                        created_unix_ms: 0,
                        published: ::core::default::Default::default(),
                        deleted: false,
                        expires_boot_ms: ::core::default::Default::default(),
                        linger_ms: ::core::default::Default::default(),
                        accesses_left: ::core::default::Default::default(),
                        part: false,
                        renamed: ::core::default::Default::default(),
                        held: false,
                        hold: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorMade {
                /// Creates a [TensorMadeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorMadeBuilder<()> {
                    TensorMadeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_dtype: impl ::planus::WriteAsDefault<u8, u8>,
                    field_shape: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                    field_slab: impl ::planus::WriteAsOptional<self::Id>,
                    field_offset: impl ::planus::WriteAsDefault<u64, u64>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_ready: impl ::planus::WriteAsDefault<bool, bool>,
                    field_generation: impl ::planus::WriteAsDefault<u64, u64>,
                    field_ephemeral: impl ::planus::WriteAsDefault<bool, bool>,
                    field_creator: impl ::planus::WriteAsOptional<self::Id>,
                    field_created_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_published: impl ::planus::WriteAsOptional<self::Id>,
                    field_deleted: impl ::planus::WriteAsDefault<bool, bool>,
                    field_expires_boot_ms: impl ::planus::WriteAsOptional<u64>,
                    field_linger_ms: impl ::planus::WriteAsOptional<u64>,
                    field_accesses_left: impl ::planus::WriteAsOptional<u64>,
                    field_part: impl ::planus::WriteAsDefault<bool, bool>,
                    field_renamed: impl ::planus::WriteAsOptional<self::Id>,
                    field_held: impl ::planus::WriteAsDefault<bool, bool>,
                    field_hold: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_dtype = field_dtype.prepare(builder, &0);
                    let prepared_shape = field_shape.prepare(builder);
                    let prepared_slab = field_slab.prepare(builder);
                    let prepared_offset = field_offset.prepare(builder, &0);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_ready = field_ready.prepare(builder, &false);
                    let prepared_generation = field_generation.prepare(builder, &0);
                    let prepared_ephemeral = field_ephemeral.prepare(builder, &false);
                    let prepared_creator = field_creator.prepare(builder);
                    let prepared_created_unix_ms = field_created_unix_ms.prepare(builder, &0);
                    let prepared_published = field_published.prepare(builder);
                    let prepared_deleted = field_deleted.prepare(builder, &false);
                    let prepared_expires_boot_ms = field_expires_boot_ms.prepare(builder);
                    let prepared_linger_ms = field_linger_ms.prepare(builder);
                    let prepared_accesses_left = field_accesses_left.prepare(builder);
                    let prepared_part = field_part.prepare(builder, &false);
                    let prepared_renamed = field_renamed.prepare(builder);
                    let prepared_held = field_held.prepare(builder, &false);
                    let prepared_hold = field_hold.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<46> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<self::Id>(4);
                    }
                    if prepared_offset.is_some() {
                        table_writer.write_entry::<u64>(5);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(6);
                    }
                    if prepared_generation.is_some() {
                        table_writer.write_entry::<u64>(8);
                    }
                    if prepared_creator.is_some() {
                        table_writer.write_entry::<self::Id>(10);
                    }
                    if prepared_created_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(11);
                    }
                    if prepared_published.is_some() {
                        table_writer.write_entry::<self::Id>(12);
                    }
                    if prepared_expires_boot_ms.is_some() {
                        table_writer.write_entry::<u64>(14);
                    }
                    if prepared_linger_ms.is_some() {
                        table_writer.write_entry::<u64>(15);
                    }
                    if prepared_accesses_left.is_some() {
                        table_writer.write_entry::<u64>(16);
                    }
                    if prepared_renamed.is_some() {
                        table_writer.write_entry::<self::Id>(18);
                    }
                    if prepared_hold.is_some() {
                        table_writer.write_entry::<self::Id>(20);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_shape.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(3);
                    }
                    if prepared_dtype.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }
                    if prepared_ready.is_some() {
                        table_writer.write_entry::<bool>(7);
                    }
                    if prepared_ephemeral.is_some() {
                        table_writer.write_entry::<bool>(9);
                    }
                    if prepared_deleted.is_some() {
                        table_writer.write_entry::<bool>(13);
                    }
                    if prepared_part.is_some() {
                        table_writer.write_entry::<bool>(17);
                    }
                    if prepared_held.is_some() {
                        table_writer.write_entry::<bool>(19);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 16>(&prepared_slab);
                            }
                            if let ::core::option::Option::Some(prepared_offset) = prepared_offset {
                                object_writer.write::<_, _, 8>(&prepared_offset);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_generation) =
                                prepared_generation
                            {
                                object_writer.write::<_, _, 8>(&prepared_generation);
                            }
                            if let ::core::option::Option::Some(prepared_creator) = prepared_creator
                            {
                                object_writer.write::<_, _, 16>(&prepared_creator);
                            }
                            if let ::core::option::Option::Some(prepared_created_unix_ms) =
                                prepared_created_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_created_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_published) =
                                prepared_published
                            {
                                object_writer.write::<_, _, 16>(&prepared_published);
                            }
                            if let ::core::option::Option::Some(prepared_expires_boot_ms) =
                                prepared_expires_boot_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_expires_boot_ms);
                            }
                            if let ::core::option::Option::Some(prepared_linger_ms) =
                                prepared_linger_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_linger_ms);
                            }
                            if let ::core::option::Option::Some(prepared_accesses_left) =
                                prepared_accesses_left
                            {
                                object_writer.write::<_, _, 8>(&prepared_accesses_left);
                            }
                            if let ::core::option::Option::Some(prepared_renamed) = prepared_renamed
                            {
                                object_writer.write::<_, _, 16>(&prepared_renamed);
                            }
                            if let ::core::option::Option::Some(prepared_hold) = prepared_hold {
                                object_writer.write::<_, _, 16>(&prepared_hold);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_shape) = prepared_shape {
                                object_writer.write::<_, _, 4>(&prepared_shape);
                            }
                            if let ::core::option::Option::Some(prepared_dtype) = prepared_dtype {
                                object_writer.write::<_, _, 1>(&prepared_dtype);
                            }
                            if let ::core::option::Option::Some(prepared_ready) = prepared_ready {
                                object_writer.write::<_, _, 1>(&prepared_ready);
                            }
                            if let ::core::option::Option::Some(prepared_ephemeral) =
                                prepared_ephemeral
                            {
                                object_writer.write::<_, _, 1>(&prepared_ephemeral);
                            }
                            if let ::core::option::Option::Some(prepared_deleted) = prepared_deleted
                            {
                                object_writer.write::<_, _, 1>(&prepared_deleted);
                            }
                            if let ::core::option::Option::Some(prepared_part) = prepared_part {
                                object_writer.write::<_, _, 1>(&prepared_part);
                            }
                            if let ::core::option::Option::Some(prepared_held) = prepared_held {
                                object_writer.write::<_, _, 1>(&prepared_held);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorMade>> for TensorMade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorMade>> for TensorMade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorMade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorMade> for TensorMade {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMade> {
                    TensorMade::create(
                        builder,
                        self.tensor,
                        &self.name,
                        self.dtype,
                        &self.shape,
                        self.slab,
                        self.offset,
                        self.bytes,
                        self.ready,
                        self.generation,
                        self.ephemeral,
                        self.creator,
                        self.created_unix_ms,
                        self.published,
                        self.deleted,
                        self.expires_boot_ms,
                        self.linger_ms,
                        self.accesses_left,
                        self.part,
                        self.renamed,
                        self.held,
                        self.hold,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorMade] type.
            ///
            /// Can be created using the [TensorMade::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorMadeBuilder<State>(State);

            impl TensorMadeBuilder<()> {
                /// Setter for the [`tensor` field](TensorMade#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorMadeBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorMadeBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorMade#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorMadeBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorMadeBuilder<(T0,)> {
                /// Setter for the [`name` field](TensorMade#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T1>(self, value: T1) -> TensorMadeBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    TensorMadeBuilder((v0, value))
                }

                /// Sets the [`name` field](TensorMade#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorMadeBuilder<(T0, ())> {
                    self.name(())
                }
            }

            impl<T0, T1> TensorMadeBuilder<(T0, T1)> {
                /// Setter for the [`dtype` field](TensorMade#structfield.dtype).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype<T2>(self, value: T2) -> TensorMadeBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    TensorMadeBuilder((v0, v1, value))
                }

                /// Sets the [`dtype` field](TensorMade#structfield.dtype) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype_as_default(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.dtype(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> TensorMadeBuilder<(T0, T1, T2)> {
                /// Setter for the [`shape` field](TensorMade#structfield.shape).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape<T3>(self, value: T3) -> TensorMadeBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorMadeBuilder((v0, v1, v2, value))
                }

                /// Sets the [`shape` field](TensorMade#structfield.shape) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape_as_null(self) -> TensorMadeBuilder<(T0, T1, T2, ())> {
                    self.shape(())
                }
            }

            impl<T0, T1, T2, T3> TensorMadeBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`slab` field](TensorMade#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T4>(self, value: T4) -> TensorMadeBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`slab` field](TensorMade#structfield.slab) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_null(self) -> TensorMadeBuilder<(T0, T1, T2, T3, ())> {
                    self.slab(())
                }
            }

            impl<T0, T1, T2, T3, T4> TensorMadeBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`offset` field](TensorMade#structfield.offset).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset<T5>(self, value: T5) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`offset` field](TensorMade#structfield.offset) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset_as_default(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.offset(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`bytes` field](TensorMade#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T6>(self, value: T6) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`bytes` field](TensorMade#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`ready` field](TensorMade#structfield.ready).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ready<T7>(
                    self,
                    value: T7,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`ready` field](TensorMade#structfield.ready) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ready_as_default(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.ready(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`generation` field](TensorMade#structfield.generation).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation<T8>(
                    self,
                    value: T8,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`generation` field](TensorMade#structfield.generation) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation_as_default(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.generation(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Setter for the [`ephemeral` field](TensorMade#structfield.ephemeral).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ephemeral<T9>(
                    self,
                    value: T9,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`ephemeral` field](TensorMade#structfield.ephemeral) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ephemeral_as_default(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ::planus::DefaultValue)>
                {
                    self.ephemeral(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`creator` field](TensorMade#structfield.creator).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn creator<T10>(
                    self,
                    value: T10,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`creator` field](TensorMade#structfield.creator) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn creator_as_null(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, ())>
                {
                    self.creator(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Setter for the [`created_unix_ms` field](TensorMade#structfield.created_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms<T11>(
                    self,
                    value: T11,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
                where
                    T11: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, value))
                }

                /// Sets the [`created_unix_ms` field](TensorMade#structfield.created_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms_as_default(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    ::planus::DefaultValue,
                )> {
                    self.created_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11>
                TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                /// Setter for the [`published` field](TensorMade#structfield.published).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn published<T12>(
                    self,
                    value: T12,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12)>
                where
                    T12: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) = self.0;
                    TensorMadeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, value))
                }

                /// Sets the [`published` field](TensorMade#structfield.published) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn published_as_null(
                    self,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, ())>
                {
                    self.published(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12>
                TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12)>
            {
                /// Setter for the [`deleted` field](TensorMade#structfield.deleted).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn deleted<T13>(
                    self,
                    value: T13,
                ) -> TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13)>
                where
                    T13: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12) = self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, value,
                    ))
                }

                /// Sets the [`deleted` field](TensorMade#structfield.deleted) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn deleted_as_default(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    ::planus::DefaultValue,
                )> {
                    self.deleted(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13>
                TensorMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13)>
            {
                /// Setter for the [`expires_boot_ms` field](TensorMade#structfield.expires_boot_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn expires_boot_ms<T14>(
                    self,
                    value: T14,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                )>
                where
                    T14: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13) = self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, value,
                    ))
                }

                /// Sets the [`expires_boot_ms` field](TensorMade#structfield.expires_boot_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn expires_boot_ms_as_null(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    (),
                )> {
                    self.expires_boot_ms(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14>
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                )>
            {
                /// Setter for the [`linger_ms` field](TensorMade#structfield.linger_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn linger_ms<T15>(
                    self,
                    value: T15,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                )>
                where
                    T15: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14) = self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, value,
                    ))
                }

                /// Sets the [`linger_ms` field](TensorMade#structfield.linger_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn linger_ms_as_null(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    (),
                )> {
                    self.linger_ms(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15>
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                )>
            {
                /// Setter for the [`accesses_left` field](TensorMade#structfield.accesses_left).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn accesses_left<T16>(
                    self,
                    value: T16,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                )>
                where
                    T16: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15) =
                        self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, value,
                    ))
                }

                /// Sets the [`accesses_left` field](TensorMade#structfield.accesses_left) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn accesses_left_as_null(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    (),
                )> {
                    self.accesses_left(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16>
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                )>
            {
                /// Setter for the [`part` field](TensorMade#structfield.part).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn part<T17>(
                    self,
                    value: T17,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                )>
                where
                    T17: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16) =
                        self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        value,
                    ))
                }

                /// Sets the [`part` field](TensorMade#structfield.part) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn part_as_default(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    ::planus::DefaultValue,
                )> {
                    self.part(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17>
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                )>
            {
                /// Setter for the [`renamed` field](TensorMade#structfield.renamed).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn renamed<T18>(
                    self,
                    value: T18,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                )>
                where
                    T18: ::planus::WriteAsOptional<self::Id>,
                {
                    let (
                        v0,
                        v1,
                        v2,
                        v3,
                        v4,
                        v5,
                        v6,
                        v7,
                        v8,
                        v9,
                        v10,
                        v11,
                        v12,
                        v13,
                        v14,
                        v15,
                        v16,
                        v17,
                    ) = self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        v17, value,
                    ))
                }

                /// Sets the [`renamed` field](TensorMade#structfield.renamed) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn renamed_as_null(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    (),
                )> {
                    self.renamed(())
                }
            }

            impl<
                T0,
                T1,
                T2,
                T3,
                T4,
                T5,
                T6,
                T7,
                T8,
                T9,
                T10,
                T11,
                T12,
                T13,
                T14,
                T15,
                T16,
                T17,
                T18,
            >
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                )>
            {
                /// Setter for the [`held` field](TensorMade#structfield.held).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn held<T19>(
                    self,
                    value: T19,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                )>
                where
                    T19: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (
                        v0,
                        v1,
                        v2,
                        v3,
                        v4,
                        v5,
                        v6,
                        v7,
                        v8,
                        v9,
                        v10,
                        v11,
                        v12,
                        v13,
                        v14,
                        v15,
                        v16,
                        v17,
                        v18,
                    ) = self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        v17, v18, value,
                    ))
                }

                /// Sets the [`held` field](TensorMade#structfield.held) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn held_as_default(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    ::planus::DefaultValue,
                )> {
                    self.held(::planus::DefaultValue)
                }
            }

            impl<
                T0,
                T1,
                T2,
                T3,
                T4,
                T5,
                T6,
                T7,
                T8,
                T9,
                T10,
                T11,
                T12,
                T13,
                T14,
                T15,
                T16,
                T17,
                T18,
                T19,
            >
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                )>
            {
                /// Setter for the [`hold` field](TensorMade#structfield.hold).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn hold<T20>(
                    self,
                    value: T20,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                    T20,
                )>
                where
                    T20: ::planus::WriteAsOptional<self::Id>,
                {
                    let (
                        v0,
                        v1,
                        v2,
                        v3,
                        v4,
                        v5,
                        v6,
                        v7,
                        v8,
                        v9,
                        v10,
                        v11,
                        v12,
                        v13,
                        v14,
                        v15,
                        v16,
                        v17,
                        v18,
                        v19,
                    ) = self.0;
                    TensorMadeBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        v17, v18, v19, value,
                    ))
                }

                /// Sets the [`hold` field](TensorMade#structfield.hold) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn hold_as_null(
                    self,
                ) -> TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                    (),
                )> {
                    self.hold(())
                }
            }

            impl<
                T0,
                T1,
                T2,
                T3,
                T4,
                T5,
                T6,
                T7,
                T8,
                T9,
                T10,
                T11,
                T12,
                T13,
                T14,
                T15,
                T16,
                T17,
                T18,
                T19,
                T20,
            >
                TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                    T20,
                )>
            {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorMade].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMade>
                where
                    Self: ::planus::WriteAsOffset<TensorMade>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<self::Id>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsDefault<bool, bool>,
                T10: ::planus::WriteAsOptional<self::Id>,
                T11: ::planus::WriteAsDefault<u64, u64>,
                T12: ::planus::WriteAsOptional<self::Id>,
                T13: ::planus::WriteAsDefault<bool, bool>,
                T14: ::planus::WriteAsOptional<u64>,
                T15: ::planus::WriteAsOptional<u64>,
                T16: ::planus::WriteAsOptional<u64>,
                T17: ::planus::WriteAsDefault<bool, bool>,
                T18: ::planus::WriteAsOptional<self::Id>,
                T19: ::planus::WriteAsDefault<bool, bool>,
                T20: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAs<::planus::Offset<TensorMade>>
                for TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                    T20,
                )>
            {
                type Prepared = ::planus::Offset<TensorMade>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<self::Id>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsDefault<bool, bool>,
                T10: ::planus::WriteAsOptional<self::Id>,
                T11: ::planus::WriteAsDefault<u64, u64>,
                T12: ::planus::WriteAsOptional<self::Id>,
                T13: ::planus::WriteAsDefault<bool, bool>,
                T14: ::planus::WriteAsOptional<u64>,
                T15: ::planus::WriteAsOptional<u64>,
                T16: ::planus::WriteAsOptional<u64>,
                T17: ::planus::WriteAsDefault<bool, bool>,
                T18: ::planus::WriteAsOptional<self::Id>,
                T19: ::planus::WriteAsDefault<bool, bool>,
                T20: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorMade>>
                for TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                    T20,
                )>
            {
                type Prepared = ::planus::Offset<TensorMade>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorMade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<self::Id>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsDefault<bool, bool>,
                T10: ::planus::WriteAsOptional<self::Id>,
                T11: ::planus::WriteAsDefault<u64, u64>,
                T12: ::planus::WriteAsOptional<self::Id>,
                T13: ::planus::WriteAsDefault<bool, bool>,
                T14: ::planus::WriteAsOptional<u64>,
                T15: ::planus::WriteAsOptional<u64>,
                T16: ::planus::WriteAsOptional<u64>,
                T17: ::planus::WriteAsDefault<bool, bool>,
                T18: ::planus::WriteAsOptional<self::Id>,
                T19: ::planus::WriteAsDefault<bool, bool>,
                T20: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOffset<TensorMade>
                for TensorMadeBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    T11,
                    T12,
                    T13,
                    T14,
                    T15,
                    T16,
                    T17,
                    T18,
                    T19,
                    T20,
                )>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMade> {
                    let (
                        v0,
                        v1,
                        v2,
                        v3,
                        v4,
                        v5,
                        v6,
                        v7,
                        v8,
                        v9,
                        v10,
                        v11,
                        v12,
                        v13,
                        v14,
                        v15,
                        v16,
                        v17,
                        v18,
                        v19,
                        v20,
                    ) = &self.0;
                    TensorMade::create(
                        builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14,
                        v15, v16, v17, v18, v19, v20,
                    )
                }
            }

            /// Reference to a deserialized [TensorMade].
            #[derive(Copy, Clone)]
            pub struct TensorMadeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorMadeRef<'a> {
                /// Getter for the [`tensor` field](TensorMade#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorMade", "tensor")
                }

                /// Getter for the [`name` field](TensorMade#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "TensorMade", "name")
                }

                /// Getter for the [`dtype` field](TensorMade#structfield.dtype).
                #[inline]
                pub fn dtype(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "TensorMade", "dtype")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`shape` field](TensorMade#structfield.shape).
                #[inline]
                pub fn shape(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(3, "TensorMade", "shape")
                }

                /// Getter for the [`slab` field](TensorMade#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(4, "TensorMade", "slab")
                }

                /// Getter for the [`offset` field](TensorMade#structfield.offset).
                #[inline]
                pub fn offset(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "TensorMade", "offset")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`bytes` field](TensorMade#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(6, "TensorMade", "bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ready` field](TensorMade#structfield.ready).
                #[inline]
                pub fn ready(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "TensorMade", "ready")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`generation` field](TensorMade#structfield.generation).
                #[inline]
                pub fn generation(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(8, "TensorMade", "generation")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ephemeral` field](TensorMade#structfield.ephemeral).
                #[inline]
                pub fn ephemeral(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(9, "TensorMade", "ephemeral")?
                            .unwrap_or(false),
                    )
                }

                /// Getter for the [`creator` field](TensorMade#structfield.creator).
                #[inline]
                pub fn creator(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(10, "TensorMade", "creator")
                }

                /// Getter for the [`created_unix_ms` field](TensorMade#structfield.created_unix_ms).
                #[inline]
                pub fn created_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(11, "TensorMade", "created_unix_ms")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`published` field](TensorMade#structfield.published).
                #[inline]
                pub fn published(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(12, "TensorMade", "published")
                }

                /// Getter for the [`deleted` field](TensorMade#structfield.deleted).
                #[inline]
                pub fn deleted(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(13, "TensorMade", "deleted")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`expires_boot_ms` field](TensorMade#structfield.expires_boot_ms).
                #[inline]
                pub fn expires_boot_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(14, "TensorMade", "expires_boot_ms")
                }

                /// Getter for the [`linger_ms` field](TensorMade#structfield.linger_ms).
                #[inline]
                pub fn linger_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(15, "TensorMade", "linger_ms")
                }

                /// Getter for the [`accesses_left` field](TensorMade#structfield.accesses_left).
                #[inline]
                pub fn accesses_left(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(16, "TensorMade", "accesses_left")
                }

                /// Getter for the [`part` field](TensorMade#structfield.part).
                #[inline]
                pub fn part(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(17, "TensorMade", "part")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`renamed` field](TensorMade#structfield.renamed).
                #[inline]
                pub fn renamed(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(18, "TensorMade", "renamed")
                }

                /// Getter for the [`held` field](TensorMade#structfield.held).
                #[inline]
                pub fn held(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(19, "TensorMade", "held")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`hold` field](TensorMade#structfield.hold).
                #[inline]
                pub fn hold(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(20, "TensorMade", "hold")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorMadeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorMadeRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("dtype", &self.dtype());
                    if let ::core::option::Option::Some(field_shape) = self.shape().transpose() {
                        f.field("shape", &field_shape);
                    }
                    if let ::core::option::Option::Some(field_slab) = self.slab().transpose() {
                        f.field("slab", &field_slab);
                    }
                    f.field("offset", &self.offset());
                    f.field("bytes", &self.bytes());
                    f.field("ready", &self.ready());
                    f.field("generation", &self.generation());
                    f.field("ephemeral", &self.ephemeral());
                    if let ::core::option::Option::Some(field_creator) = self.creator().transpose()
                    {
                        f.field("creator", &field_creator);
                    }
                    f.field("created_unix_ms", &self.created_unix_ms());
                    if let ::core::option::Option::Some(field_published) =
                        self.published().transpose()
                    {
                        f.field("published", &field_published);
                    }
                    f.field("deleted", &self.deleted());
                    if let ::core::option::Option::Some(field_expires_boot_ms) =
                        self.expires_boot_ms().transpose()
                    {
                        f.field("expires_boot_ms", &field_expires_boot_ms);
                    }
                    if let ::core::option::Option::Some(field_linger_ms) =
                        self.linger_ms().transpose()
                    {
                        f.field("linger_ms", &field_linger_ms);
                    }
                    if let ::core::option::Option::Some(field_accesses_left) =
                        self.accesses_left().transpose()
                    {
                        f.field("accesses_left", &field_accesses_left);
                    }
                    f.field("part", &self.part());
                    if let ::core::option::Option::Some(field_renamed) = self.renamed().transpose()
                    {
                        f.field("renamed", &field_renamed);
                    }
                    f.field("held", &self.held());
                    if let ::core::option::Option::Some(field_hold) = self.hold().transpose() {
                        f.field("hold", &field_hold);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorMadeRef<'a>> for TensorMade {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorMadeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        dtype: ::core::convert::TryInto::try_into(value.dtype()?)?,
                        shape: if let ::core::option::Option::Some(shape) = value.shape()? {
                            ::core::option::Option::Some(shape.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        slab: value.slab()?.map(::core::convert::Into::into),
                        offset: ::core::convert::TryInto::try_into(value.offset()?)?,
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        ready: ::core::convert::TryInto::try_into(value.ready()?)?,
                        generation: ::core::convert::TryInto::try_into(value.generation()?)?,
                        ephemeral: ::core::convert::TryInto::try_into(value.ephemeral()?)?,
                        creator: value.creator()?.map(::core::convert::Into::into),
                        created_unix_ms: ::core::convert::TryInto::try_into(
                            value.created_unix_ms()?,
                        )?,
                        published: value.published()?.map(::core::convert::Into::into),
                        deleted: ::core::convert::TryInto::try_into(value.deleted()?)?,
                        expires_boot_ms: if let ::core::option::Option::Some(expires_boot_ms) =
                            value.expires_boot_ms()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                expires_boot_ms,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        linger_ms: if let ::core::option::Option::Some(linger_ms) =
                            value.linger_ms()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                linger_ms,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        accesses_left: if let ::core::option::Option::Some(accesses_left) =
                            value.accesses_left()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                accesses_left,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        part: ::core::convert::TryInto::try_into(value.part()?)?,
                        renamed: value.renamed()?.map(::core::convert::Into::into),
                        held: ::core::convert::TryInto::try_into(value.held()?)?,
                        hold: value.hold()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorMadeRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for TensorMadeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorMadeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorMade>> for TensorMade {
                type Value = ::planus::Offset<TensorMade>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorMade>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for TensorMadeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorMadeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorPublished` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `TensorPublished` in the file `schema/journal.fbs:107`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct TensorPublished {
                /// The field `tensor` in the table `TensorPublished`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `token` in the table `TensorPublished`
                pub token: ::core::option::Option<self::Id>,
                /// The field `generation` in the table `TensorPublished`
                pub generation: u64,
                /// The field `name` in the table `TensorPublished`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `replaced` in the table `TensorPublished`
                pub replaced: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorPublished {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        token: ::core::default::Default::default(),
                        generation: 0,
                        name: ::core::default::Default::default(),
                        replaced: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorPublished {
                /// Creates a [TensorPublishedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorPublishedBuilder<()> {
                    TensorPublishedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                    field_generation: impl ::planus::WriteAsDefault<u64, u64>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_replaced: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_token = field_token.prepare(builder);
                    let prepared_generation = field_generation.prepare(builder, &0);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_replaced = field_replaced.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<14> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_generation.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_replaced.is_some() {
                        table_writer.write_entry::<self::Id>(4);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(3);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_generation) =
                                prepared_generation
                            {
                                object_writer.write::<_, _, 8>(&prepared_generation);
                            }
                            if let ::core::option::Option::Some(prepared_replaced) =
                                prepared_replaced
                            {
                                object_writer.write::<_, _, 16>(&prepared_replaced);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorPublished>> for TensorPublished {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublished> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorPublished>> for TensorPublished {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorPublished>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorPublished> for TensorPublished {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublished> {
                    TensorPublished::create(
                        builder,
                        self.tensor,
                        self.token,
                        self.generation,
                        &self.name,
                        self.replaced,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorPublished] type.
            ///
            /// Can be created using the [TensorPublished::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorPublishedBuilder<State>(State);

            impl TensorPublishedBuilder<()> {
                /// Setter for the [`tensor` field](TensorPublished#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorPublishedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorPublishedBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorPublished#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorPublishedBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorPublishedBuilder<(T0,)> {
                /// Setter for the [`token` field](TensorPublished#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T1>(self, value: T1) -> TensorPublishedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    TensorPublishedBuilder((v0, value))
                }

                /// Sets the [`token` field](TensorPublished#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> TensorPublishedBuilder<(T0, ())> {
                    self.token(())
                }
            }

            impl<T0, T1> TensorPublishedBuilder<(T0, T1)> {
                /// Setter for the [`generation` field](TensorPublished#structfield.generation).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation<T2>(self, value: T2) -> TensorPublishedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1) = self.0;
                    TensorPublishedBuilder((v0, v1, value))
                }

                /// Sets the [`generation` field](TensorPublished#structfield.generation) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation_as_default(
                    self,
                ) -> TensorPublishedBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.generation(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> TensorPublishedBuilder<(T0, T1, T2)> {
                /// Setter for the [`name` field](TensorPublished#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T3>(self, value: T3) -> TensorPublishedBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorPublishedBuilder((v0, v1, v2, value))
                }

                /// Sets the [`name` field](TensorPublished#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorPublishedBuilder<(T0, T1, T2, ())> {
                    self.name(())
                }
            }

            impl<T0, T1, T2, T3> TensorPublishedBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`replaced` field](TensorPublished#structfield.replaced).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn replaced<T4>(self, value: T4) -> TensorPublishedBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorPublishedBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`replaced` field](TensorPublished#structfield.replaced) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn replaced_as_null(self) -> TensorPublishedBuilder<(T0, T1, T2, T3, ())> {
                    self.replaced(())
                }
            }

            impl<T0, T1, T2, T3, T4> TensorPublishedBuilder<(T0, T1, T2, T3, T4)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorPublished].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublished>
                where
                    Self: ::planus::WriteAsOffset<TensorPublished>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAs<::planus::Offset<TensorPublished>>
                for TensorPublishedBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<TensorPublished>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublished> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorPublished>>
                for TensorPublishedBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<TensorPublished>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorPublished>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOffset<TensorPublished>
                for TensorPublishedBuilder<(T0, T1, T2, T3, T4)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublished> {
                    let (v0, v1, v2, v3, v4) = &self.0;
                    TensorPublished::create(builder, v0, v1, v2, v3, v4)
                }
            }

            /// Reference to a deserialized [TensorPublished].
            #[derive(Copy, Clone)]
            pub struct TensorPublishedRef<'a>(
                #[allow(dead_code)] ::planus::table_reader::Table<'a>,
            );

            impl<'a> TensorPublishedRef<'a> {
                /// Getter for the [`tensor` field](TensorPublished#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorPublished", "tensor")
                }

                /// Getter for the [`token` field](TensorPublished#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "TensorPublished", "token")
                }

                /// Getter for the [`generation` field](TensorPublished#structfield.generation).
                #[inline]
                pub fn generation(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(2, "TensorPublished", "generation")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`name` field](TensorPublished#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(3, "TensorPublished", "name")
                }

                /// Getter for the [`replaced` field](TensorPublished#structfield.replaced).
                #[inline]
                pub fn replaced(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(4, "TensorPublished", "replaced")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorPublishedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorPublishedRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    f.field("generation", &self.generation());
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    if let ::core::option::Option::Some(field_replaced) =
                        self.replaced().transpose()
                    {
                        f.field("replaced", &field_replaced);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorPublishedRef<'a>> for TensorPublished {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorPublishedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        token: value.token()?.map(::core::convert::Into::into),
                        generation: ::core::convert::TryInto::try_into(value.generation()?)?,
                        name: value.name()?.map(::core::convert::Into::into),
                        replaced: value.replaced()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorPublishedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for TensorPublishedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorPublishedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorPublished>> for TensorPublished {
                type Value = ::planus::Offset<TensorPublished>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorPublished>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for TensorPublishedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorPublishedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorAccessed` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `TensorAccessed` in the file `schema/journal.fbs:118`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct TensorAccessed {
                /// The field `tensor` in the table `TensorAccessed`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `accesses_left` in the table `TensorAccessed`
                pub accesses_left: u64,
                /// The field `client` in the table `TensorAccessed`
                pub client: ::core::option::Option<self::Id>,
                /// The field `lease` in the table `TensorAccessed`
                pub lease: u64,
                /// The field `mode` in the table `TensorAccessed`
                pub mode: u8,
                /// The field `ended` in the table `TensorAccessed`
                pub ended: bool,
                /// The field `asked` in the table `TensorAccessed`
                pub asked: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorAccessed {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        accesses_left: 0,
                        client: ::core::default::Default::default(),
                        lease: 0,
                        mode: 0,
                        ended: false,
                        asked: 0,
                    }
                }
            }

            impl TensorAccessed {
                /// Creates a [TensorAccessedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorAccessedBuilder<()> {
                    TensorAccessedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_accesses_left: impl ::planus::WriteAsDefault<u64, u64>,
                    field_client: impl ::planus::WriteAsOptional<self::Id>,
                    field_lease: impl ::planus::WriteAsDefault<u64, u64>,
                    field_mode: impl ::planus::WriteAsDefault<u8, u8>,
                    field_ended: impl ::planus::WriteAsDefault<bool, bool>,
                    field_asked: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_accesses_left = field_accesses_left.prepare(builder, &0);
                    let prepared_client = field_client.prepare(builder);
                    let prepared_lease = field_lease.prepare(builder, &0);
                    let prepared_mode = field_mode.prepare(builder, &0);
                    let prepared_ended = field_ended.prepare(builder, &false);
                    let prepared_asked = field_asked.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<18> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_accesses_left.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_client.is_some() {
                        table_writer.write_entry::<self::Id>(2);
                    }
                    if prepared_lease.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_asked.is_some() {
                        table_writer.write_entry::<u64>(6);
                    }
                    if prepared_mode.is_some() {
                        table_writer.write_entry::<u8>(4);
                    }
                    if prepared_ended.is_some() {
                        table_writer.write_entry::<bool>(5);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_accesses_left) =
                                prepared_accesses_left
                            {
                                object_writer.write::<_, _, 8>(&prepared_accesses_left);
                            }
                            if let ::core::option::Option::Some(prepared_client) = prepared_client {
                                object_writer.write::<_, _, 16>(&prepared_client);
                            }
                            if let ::core::option::Option::Some(prepared_lease) = prepared_lease {
                                object_writer.write::<_, _, 8>(&prepared_lease);
                            }
                            if let ::core::option::Option::Some(prepared_asked) = prepared_asked {
                                object_writer.write::<_, _, 8>(&prepared_asked);
                            }
                            if let ::core::option::Option::Some(prepared_mode) = prepared_mode {
                                object_writer.write::<_, _, 1>(&prepared_mode);
                            }
                            if let ::core::option::Option::Some(prepared_ended) = prepared_ended {
                                object_writer.write::<_, _, 1>(&prepared_ended);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorAccessed>> for TensorAccessed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorAccessed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorAccessed>> for TensorAccessed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorAccessed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorAccessed> for TensorAccessed {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorAccessed> {
                    TensorAccessed::create(
                        builder,
                        self.tensor,
                        self.accesses_left,
                        self.client,
                        self.lease,
                        self.mode,
                        self.ended,
                        self.asked,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorAccessed] type.
            ///
            /// Can be created using the [TensorAccessed::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorAccessedBuilder<State>(State);

            impl TensorAccessedBuilder<()> {
                /// Setter for the [`tensor` field](TensorAccessed#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorAccessedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorAccessedBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorAccessed#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorAccessedBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorAccessedBuilder<(T0,)> {
                /// Setter for the [`accesses_left` field](TensorAccessed#structfield.accesses_left).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn accesses_left<T1>(self, value: T1) -> TensorAccessedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    TensorAccessedBuilder((v0, value))
                }

                /// Sets the [`accesses_left` field](TensorAccessed#structfield.accesses_left) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn accesses_left_as_default(
                    self,
                ) -> TensorAccessedBuilder<(T0, ::planus::DefaultValue)> {
                    self.accesses_left(::planus::DefaultValue)
                }
            }

            impl<T0, T1> TensorAccessedBuilder<(T0, T1)> {
                /// Setter for the [`client` field](TensorAccessed#structfield.client).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client<T2>(self, value: T2) -> TensorAccessedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1) = self.0;
                    TensorAccessedBuilder((v0, v1, value))
                }

                /// Sets the [`client` field](TensorAccessed#structfield.client) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client_as_null(self) -> TensorAccessedBuilder<(T0, T1, ())> {
                    self.client(())
                }
            }

            impl<T0, T1, T2> TensorAccessedBuilder<(T0, T1, T2)> {
                /// Setter for the [`lease` field](TensorAccessed#structfield.lease).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease<T3>(self, value: T3) -> TensorAccessedBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorAccessedBuilder((v0, v1, v2, value))
                }

                /// Sets the [`lease` field](TensorAccessed#structfield.lease) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease_as_default(
                    self,
                ) -> TensorAccessedBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.lease(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> TensorAccessedBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`mode` field](TensorAccessed#structfield.mode).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode<T4>(self, value: T4) -> TensorAccessedBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorAccessedBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`mode` field](TensorAccessed#structfield.mode) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode_as_default(
                    self,
                ) -> TensorAccessedBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)>
                {
                    self.mode(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> TensorAccessedBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`ended` field](TensorAccessed#structfield.ended).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ended<T5>(self, value: T5) -> TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    TensorAccessedBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`ended` field](TensorAccessed#structfield.ended) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ended_as_default(
                    self,
                ) -> TensorAccessedBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.ended(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`asked` field](TensorAccessed#structfield.asked).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn asked<T6>(
                    self,
                    value: T6,
                ) -> TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    TensorAccessedBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`asked` field](TensorAccessed#structfield.asked) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn asked_as_default(
                    self,
                ) -> TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.asked(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorAccessed].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorAccessed>
                where
                    Self: ::planus::WriteAsOffset<TensorAccessed>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u8, u8>,
                T5: ::planus::WriteAsDefault<bool, bool>,
                T6: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<TensorAccessed>>
                for TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                type Prepared = ::planus::Offset<TensorAccessed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorAccessed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u8, u8>,
                T5: ::planus::WriteAsDefault<bool, bool>,
                T6: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorAccessed>>
                for TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                type Prepared = ::planus::Offset<TensorAccessed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorAccessed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u8, u8>,
                T5: ::planus::WriteAsDefault<bool, bool>,
                T6: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<TensorAccessed>
                for TensorAccessedBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorAccessed> {
                    let (v0, v1, v2, v3, v4, v5, v6) = &self.0;
                    TensorAccessed::create(builder, v0, v1, v2, v3, v4, v5, v6)
                }
            }

            /// Reference to a deserialized [TensorAccessed].
            #[derive(Copy, Clone)]
            pub struct TensorAccessedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorAccessedRef<'a> {
                /// Getter for the [`tensor` field](TensorAccessed#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorAccessed", "tensor")
                }

                /// Getter for the [`accesses_left` field](TensorAccessed#structfield.accesses_left).
                #[inline]
                pub fn accesses_left(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(1, "TensorAccessed", "accesses_left")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`client` field](TensorAccessed#structfield.client).
                #[inline]
                pub fn client(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(2, "TensorAccessed", "client")
                }

                /// Getter for the [`lease` field](TensorAccessed#structfield.lease).
                #[inline]
                pub fn lease(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "TensorAccessed", "lease")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`mode` field](TensorAccessed#structfield.mode).
                #[inline]
                pub fn mode(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "TensorAccessed", "mode")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ended` field](TensorAccessed#structfield.ended).
                #[inline]
                pub fn ended(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(5, "TensorAccessed", "ended")?
                            .unwrap_or(false),
                    )
                }

                /// Getter for the [`asked` field](TensorAccessed#structfield.asked).
                #[inline]
                pub fn asked(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(6, "TensorAccessed", "asked")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for TensorAccessedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorAccessedRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.field("accesses_left", &self.accesses_left());
                    if let ::core::option::Option::Some(field_client) = self.client().transpose() {
                        f.field("client", &field_client);
                    }
                    f.field("lease", &self.lease());
                    f.field("mode", &self.mode());
                    f.field("ended", &self.ended());
                    f.field("asked", &self.asked());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorAccessedRef<'a>> for TensorAccessed {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorAccessedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        accesses_left: ::core::convert::TryInto::try_into(value.accesses_left()?)?,
                        client: value.client()?.map(::core::convert::Into::into),
                        lease: ::core::convert::TryInto::try_into(value.lease()?)?,
                        mode: ::core::convert::TryInto::try_into(value.mode()?)?,
                        ended: ::core::convert::TryInto::try_into(value.ended()?)?,
                        asked: ::core::convert::TryInto::try_into(value.asked()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorAccessedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for TensorAccessedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorAccessedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorAccessed>> for TensorAccessed {
                type Value = ::planus::Offset<TensorAccessed>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorAccessed>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for TensorAccessedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorAccessedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorDeleted` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `TensorDeleted` in the file `schema/journal.fbs:131`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct TensorDeleted {
                /// The field `tensor` in the table `TensorDeleted`
                pub tensor: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorDeleted {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorDeleted {
                /// Creates a [TensorDeletedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorDeletedBuilder<()> {
                    TensorDeletedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorDeleted>> for TensorDeleted {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDeleted> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorDeleted>> for TensorDeleted {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorDeleted>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorDeleted> for TensorDeleted {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDeleted> {
                    TensorDeleted::create(builder, self.tensor)
                }
            }

            /// Builder for serializing an instance of the [TensorDeleted] type.
            ///
            /// Can be created using the [TensorDeleted::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorDeletedBuilder<State>(State);

            impl TensorDeletedBuilder<()> {
                /// Setter for the [`tensor` field](TensorDeleted#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorDeletedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorDeletedBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorDeleted#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorDeletedBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorDeletedBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorDeleted].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDeleted>
                where
                    Self: ::planus::WriteAsOffset<TensorDeleted>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<TensorDeleted>> for TensorDeletedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorDeleted>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDeleted> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<TensorDeleted>>
                for TensorDeletedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorDeleted>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorDeleted>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<TensorDeleted>
                for TensorDeletedBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDeleted> {
                    let (v0,) = &self.0;
                    TensorDeleted::create(builder, v0)
                }
            }

            /// Reference to a deserialized [TensorDeleted].
            #[derive(Copy, Clone)]
            pub struct TensorDeletedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorDeletedRef<'a> {
                /// Getter for the [`tensor` field](TensorDeleted#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorDeleted", "tensor")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorDeletedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorDeletedRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorDeletedRef<'a>> for TensorDeleted {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorDeletedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorDeletedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for TensorDeletedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorDeletedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorDeleted>> for TensorDeleted {
                type Value = ::planus::Offset<TensorDeleted>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorDeleted>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for TensorDeletedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorDeletedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorFreed` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `TensorFreed` in the file `schema/journal.fbs:135`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct TensorFreed {
                /// The field `tensor` in the table `TensorFreed`
                pub tensor: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorFreed {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorFreed {
                /// Creates a [TensorFreedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorFreedBuilder<()> {
                    TensorFreedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorFreed>> for TensorFreed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorFreed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorFreed>> for TensorFreed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorFreed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorFreed> for TensorFreed {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorFreed> {
                    TensorFreed::create(builder, self.tensor)
                }
            }

            /// Builder for serializing an instance of the [TensorFreed] type.
            ///
            /// Can be created using the [TensorFreed::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorFreedBuilder<State>(State);

            impl TensorFreedBuilder<()> {
                /// Setter for the [`tensor` field](TensorFreed#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorFreedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorFreedBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorFreed#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorFreedBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorFreedBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorFreed].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorFreed>
                where
                    Self: ::planus::WriteAsOffset<TensorFreed>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<TensorFreed>> for TensorFreedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorFreed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorFreed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<TensorFreed>>
                for TensorFreedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorFreed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorFreed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<TensorFreed>
                for TensorFreedBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorFreed> {
                    let (v0,) = &self.0;
                    TensorFreed::create(builder, v0)
                }
            }

            /// Reference to a deserialized [TensorFreed].
            #[derive(Copy, Clone)]
            pub struct TensorFreedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorFreedRef<'a> {
                /// Getter for the [`tensor` field](TensorFreed#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorFreed", "tensor")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorFreedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorFreedRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorFreedRef<'a>> for TensorFreed {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorFreedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorFreedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for TensorFreedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorFreedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorFreed>> for TensorFreed {
                type Value = ::planus::Offset<TensorFreed>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorFreed>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for TensorFreedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorFreedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `VersionStaged` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `VersionStaged` in the file `schema/journal.fbs:140`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct VersionStaged {
                /// The field `version` in the table `VersionStaged`
                pub version: ::core::option::Option<self::Id>,
                /// The field `model` in the table `VersionStaged`
                pub model: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `tag` in the table `VersionStaged`
                pub tag: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `tenant` in the table `VersionStaged`
                pub tenant: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `user` in the table `VersionStaged`
                pub user: u32,
                /// The field `group` in the table `VersionStaged`
                pub group: u32,
                /// The field `device` in the table `VersionStaged`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `audience` in the table `VersionStaged`
                pub audience: u8,
                /// The field `parts` in the table `VersionStaged`
                pub parts: ::core::option::Option<::planus::alloc::vec::Vec<self::Id>>,
                /// The field `creator` in the table `VersionStaged`
                pub creator: ::core::option::Option<self::Id>,
                /// The field `created_unix_ms` in the table `VersionStaged`
                pub created_unix_ms: u64,
                /// The field `borrowers_recorded` in the table `VersionStaged`
                pub borrowers_recorded: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for VersionStaged {
                fn default() -> Self {
                    Self {
                        version: ::core::default::Default::default(),
                        model: ::core::default::Default::default(),
                        tag: ::core::default::Default::default(),
                        tenant: ::core::default::Default::default(),
                        user: 0,
                        group: 0,
                        device: ::core::default::Default::default(),
                        audience: 0,
                        parts: ::core::default::Default::default(),
                        creator: ::core::default::Default::default(),
                        created_unix_ms: 0,
                        borrowers_recorded: false,
                    }
                }
            }

            impl VersionStaged {
                /// Creates a [VersionStagedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> VersionStagedBuilder<()> {
                    VersionStagedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                    field_model: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_tag: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_tenant: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_group: impl ::planus::WriteAsDefault<u32, u32>,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_audience: impl ::planus::WriteAsDefault<u8, u8>,
                    field_parts: impl ::planus::WriteAsOptional<::planus::Offset<[self::Id]>>,
                    field_creator: impl ::planus::WriteAsOptional<self::Id>,
                    field_created_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_borrowers_recorded: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder);
                    let prepared_model = field_model.prepare(builder);
                    let prepared_tag = field_tag.prepare(builder);
                    let prepared_tenant = field_tenant.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_group = field_group.prepare(builder, &0);
                    let prepared_device = field_device.prepare(builder);
                    let prepared_audience = field_audience.prepare(builder, &0);
                    let prepared_parts = field_parts.prepare(builder);
                    let prepared_creator = field_creator.prepare(builder);
                    let prepared_created_unix_ms = field_created_unix_ms.prepare(builder, &0);
                    let prepared_borrowers_recorded =
                        field_borrowers_recorded.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<28> =
                        ::core::default::Default::default();
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_creator.is_some() {
                        table_writer.write_entry::<self::Id>(9);
                    }
                    if prepared_created_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(10);
                    }
                    if prepared_model.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_tag.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }
                    if prepared_tenant.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(3);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(4);
                    }
                    if prepared_group.is_some() {
                        table_writer.write_entry::<u32>(5);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(6);
                    }
                    if prepared_parts.is_some() {
                        table_writer.write_entry::<::planus::Offset<[self::Id]>>(8);
                    }
                    if prepared_audience.is_some() {
                        table_writer.write_entry::<u8>(7);
                    }
                    if prepared_borrowers_recorded.is_some() {
                        table_writer.write_entry::<bool>(11);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_creator) = prepared_creator
                            {
                                object_writer.write::<_, _, 16>(&prepared_creator);
                            }
                            if let ::core::option::Option::Some(prepared_created_unix_ms) =
                                prepared_created_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_created_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_model) = prepared_model {
                                object_writer.write::<_, _, 4>(&prepared_model);
                            }
                            if let ::core::option::Option::Some(prepared_tag) = prepared_tag {
                                object_writer.write::<_, _, 4>(&prepared_tag);
                            }
                            if let ::core::option::Option::Some(prepared_tenant) = prepared_tenant {
                                object_writer.write::<_, _, 4>(&prepared_tenant);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_group) = prepared_group {
                                object_writer.write::<_, _, 4>(&prepared_group);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_parts) = prepared_parts {
                                object_writer.write::<_, _, 4>(&prepared_parts);
                            }
                            if let ::core::option::Option::Some(prepared_audience) =
                                prepared_audience
                            {
                                object_writer.write::<_, _, 1>(&prepared_audience);
                            }
                            if let ::core::option::Option::Some(prepared_borrowers_recorded) =
                                prepared_borrowers_recorded
                            {
                                object_writer.write::<_, _, 1>(&prepared_borrowers_recorded);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<VersionStaged>> for VersionStaged {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionStaged> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<VersionStaged>> for VersionStaged {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionStaged>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<VersionStaged> for VersionStaged {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionStaged> {
                    VersionStaged::create(
                        builder,
                        self.version,
                        &self.model,
                        &self.tag,
                        &self.tenant,
                        self.user,
                        self.group,
                        &self.device,
                        self.audience,
                        &self.parts,
                        self.creator,
                        self.created_unix_ms,
                        self.borrowers_recorded,
                    )
                }
            }

            /// Builder for serializing an instance of the [VersionStaged] type.
            ///
            /// Can be created using the [VersionStaged::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct VersionStagedBuilder<State>(State);

            impl VersionStagedBuilder<()> {
                /// Setter for the [`version` field](VersionStaged#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> VersionStagedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    VersionStagedBuilder((value,))
                }

                /// Sets the [`version` field](VersionStaged#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> VersionStagedBuilder<((),)> {
                    self.version(())
                }
            }

            impl<T0> VersionStagedBuilder<(T0,)> {
                /// Setter for the [`model` field](VersionStaged#structfield.model).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn model<T1>(self, value: T1) -> VersionStagedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    VersionStagedBuilder((v0, value))
                }

                /// Sets the [`model` field](VersionStaged#structfield.model) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn model_as_null(self) -> VersionStagedBuilder<(T0, ())> {
                    self.model(())
                }
            }

            impl<T0, T1> VersionStagedBuilder<(T0, T1)> {
                /// Setter for the [`tag` field](VersionStaged#structfield.tag).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tag<T2>(self, value: T2) -> VersionStagedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    VersionStagedBuilder((v0, v1, value))
                }

                /// Sets the [`tag` field](VersionStaged#structfield.tag) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tag_as_null(self) -> VersionStagedBuilder<(T0, T1, ())> {
                    self.tag(())
                }
            }

            impl<T0, T1, T2> VersionStagedBuilder<(T0, T1, T2)> {
                /// Setter for the [`tenant` field](VersionStaged#structfield.tenant).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant<T3>(self, value: T3) -> VersionStagedBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2) = self.0;
                    VersionStagedBuilder((v0, v1, v2, value))
                }

                /// Sets the [`tenant` field](VersionStaged#structfield.tenant) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant_as_null(self) -> VersionStagedBuilder<(T0, T1, T2, ())> {
                    self.tenant(())
                }
            }

            impl<T0, T1, T2, T3> VersionStagedBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`user` field](VersionStaged#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T4>(self, value: T4) -> VersionStagedBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`user` field](VersionStaged#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)>
                {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> VersionStagedBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`group` field](VersionStaged#structfield.group).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group<T5>(self, value: T5) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`group` field](VersionStaged#structfield.group) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group_as_default(
                    self,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.group(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`device` field](VersionStaged#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T6>(
                    self,
                    value: T6,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`device` field](VersionStaged#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.device(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`audience` field](VersionStaged#structfield.audience).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience<T7>(
                    self,
                    value: T7,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`audience` field](VersionStaged#structfield.audience) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience_as_default(
                    self,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.audience(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`parts` field](VersionStaged#structfield.parts).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn parts<T8>(
                    self,
                    value: T8,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsOptional<::planus::Offset<[self::Id]>>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`parts` field](VersionStaged#structfield.parts) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn parts_as_null(
                    self,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ())> {
                    self.parts(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8>
                VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                /// Setter for the [`creator` field](VersionStaged#structfield.creator).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn creator<T9>(
                    self,
                    value: T9,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`creator` field](VersionStaged#structfield.creator) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn creator_as_null(
                    self,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ())>
                {
                    self.creator(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`created_unix_ms` field](VersionStaged#structfield.created_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms<T10>(
                    self,
                    value: T10,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`created_unix_ms` field](VersionStaged#structfield.created_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms_as_default(
                    self,
                ) -> VersionStagedBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    ::planus::DefaultValue,
                )> {
                    self.created_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Setter for the [`borrowers_recorded` field](VersionStaged#structfield.borrowers_recorded).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn borrowers_recorded<T11>(
                    self,
                    value: T11,
                ) -> VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
                where
                    T11: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = self.0;
                    VersionStagedBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, value))
                }

                /// Sets the [`borrowers_recorded` field](VersionStaged#structfield.borrowers_recorded) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn borrowers_recorded_as_default(
                    self,
                ) -> VersionStagedBuilder<(
                    T0,
                    T1,
                    T2,
                    T3,
                    T4,
                    T5,
                    T6,
                    T7,
                    T8,
                    T9,
                    T10,
                    ::planus::DefaultValue,
                )> {
                    self.borrowers_recorded(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11>
                VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [VersionStaged].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionStaged>
                where
                    Self: ::planus::WriteAsOffset<VersionStaged>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsOptional<::planus::Offset<[self::Id]>>,
                T9: ::planus::WriteAsOptional<self::Id>,
                T10: ::planus::WriteAsDefault<u64, u64>,
                T11: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<VersionStaged>>
                for VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                type Prepared = ::planus::Offset<VersionStaged>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionStaged> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsOptional<::planus::Offset<[self::Id]>>,
                T9: ::planus::WriteAsOptional<self::Id>,
                T10: ::planus::WriteAsDefault<u64, u64>,
                T11: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<VersionStaged>>
                for VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                type Prepared = ::planus::Offset<VersionStaged>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionStaged>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsOptional<::planus::Offset<[self::Id]>>,
                T9: ::planus::WriteAsOptional<self::Id>,
                T10: ::planus::WriteAsDefault<u64, u64>,
                T11: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<VersionStaged>
                for VersionStagedBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionStaged> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) = &self.0;
                    VersionStaged::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11)
                }
            }

            /// Reference to a deserialized [VersionStaged].
            #[derive(Copy, Clone)]
            pub struct VersionStagedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> VersionStagedRef<'a> {
                /// Getter for the [`version` field](VersionStaged#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "VersionStaged", "version")
                }

                /// Getter for the [`model` field](VersionStaged#structfield.model).
                #[inline]
                pub fn model(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "VersionStaged", "model")
                }

                /// Getter for the [`tag` field](VersionStaged#structfield.tag).
                #[inline]
                pub fn tag(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "VersionStaged", "tag")
                }

                /// Getter for the [`tenant` field](VersionStaged#structfield.tenant).
                #[inline]
                pub fn tenant(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(3, "VersionStaged", "tenant")
                }

                /// Getter for the [`user` field](VersionStaged#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "VersionStaged", "user")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`group` field](VersionStaged#structfield.group).
                #[inline]
                pub fn group(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "VersionStaged", "group")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`device` field](VersionStaged#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(6, "VersionStaged", "device")
                }

                /// Getter for the [`audience` field](VersionStaged#structfield.audience).
                #[inline]
                pub fn audience(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "VersionStaged", "audience")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`parts` field](VersionStaged#structfield.parts).
                #[inline]
                pub fn parts(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, self::IdRef<'a>>>>
                {
                    self.0.access(8, "VersionStaged", "parts")
                }

                /// Getter for the [`creator` field](VersionStaged#structfield.creator).
                #[inline]
                pub fn creator(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(9, "VersionStaged", "creator")
                }

                /// Getter for the [`created_unix_ms` field](VersionStaged#structfield.created_unix_ms).
                #[inline]
                pub fn created_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(10, "VersionStaged", "created_unix_ms")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`borrowers_recorded` field](VersionStaged#structfield.borrowers_recorded).
                #[inline]
                pub fn borrowers_recorded(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(11, "VersionStaged", "borrowers_recorded")?
                            .unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for VersionStagedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("VersionStagedRef");
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    if let ::core::option::Option::Some(field_model) = self.model().transpose() {
                        f.field("model", &field_model);
                    }
                    if let ::core::option::Option::Some(field_tag) = self.tag().transpose() {
                        f.field("tag", &field_tag);
                    }
                    if let ::core::option::Option::Some(field_tenant) = self.tenant().transpose() {
                        f.field("tenant", &field_tenant);
                    }
                    f.field("user", &self.user());
                    f.field("group", &self.group());
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    f.field("audience", &self.audience());
                    if let ::core::option::Option::Some(field_parts) = self.parts().transpose() {
                        f.field("parts", &field_parts);
                    }
                    if let ::core::option::Option::Some(field_creator) = self.creator().transpose()
                    {
                        f.field("creator", &field_creator);
                    }
                    f.field("created_unix_ms", &self.created_unix_ms());
                    f.field("borrowers_recorded", &self.borrowers_recorded());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<VersionStagedRef<'a>> for VersionStaged {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: VersionStagedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: value.version()?.map(::core::convert::Into::into),
                        model: value.model()?.map(::core::convert::Into::into),
                        tag: value.tag()?.map(::core::convert::Into::into),
                        tenant: value.tenant()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        group: ::core::convert::TryInto::try_into(value.group()?)?,
                        device: value.device()?.map(|v| v.to_vec()),
                        audience: ::core::convert::TryInto::try_into(value.audience()?)?,
                        parts: if let ::core::option::Option::Some(parts) = value.parts()? {
                            ::core::option::Option::Some(parts.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        creator: value.creator()?.map(::core::convert::Into::into),
                        created_unix_ms: ::core::convert::TryInto::try_into(
                            value.created_unix_ms()?,
                        )?,
                        borrowers_recorded: ::core::convert::TryInto::try_into(
                            value.borrowers_recorded()?,
                        )?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for VersionStagedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for VersionStagedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[VersionStagedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<VersionStaged>> for VersionStaged {
                type Value = ::planus::Offset<VersionStaged>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<VersionStaged>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for VersionStagedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[VersionStagedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `VersionBorrowed` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `VersionBorrowed` in the file `schema/journal.fbs:157`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct VersionBorrowed {
                /// The field `version` in the table `VersionBorrowed`
                pub version: ::core::option::Option<self::Id>,
                /// The field `user` in the table `VersionBorrowed`
                pub user: u32,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for VersionBorrowed {
                fn default() -> Self {
                    Self {
                        version: ::core::default::Default::default(),
                        user: 0,
                    }
                }
            }

            impl VersionBorrowed {
                /// Creates a [VersionBorrowedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> VersionBorrowedBuilder<()> {
                    VersionBorrowedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<VersionBorrowed>> for VersionBorrowed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionBorrowed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<VersionBorrowed>> for VersionBorrowed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionBorrowed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<VersionBorrowed> for VersionBorrowed {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionBorrowed> {
                    VersionBorrowed::create(builder, self.version, self.user)
                }
            }

            /// Builder for serializing an instance of the [VersionBorrowed] type.
            ///
            /// Can be created using the [VersionBorrowed::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct VersionBorrowedBuilder<State>(State);

            impl VersionBorrowedBuilder<()> {
                /// Setter for the [`version` field](VersionBorrowed#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> VersionBorrowedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    VersionBorrowedBuilder((value,))
                }

                /// Sets the [`version` field](VersionBorrowed#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> VersionBorrowedBuilder<((),)> {
                    self.version(())
                }
            }

            impl<T0> VersionBorrowedBuilder<(T0,)> {
                /// Setter for the [`user` field](VersionBorrowed#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T1>(self, value: T1) -> VersionBorrowedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    VersionBorrowedBuilder((v0, value))
                }

                /// Sets the [`user` field](VersionBorrowed#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> VersionBorrowedBuilder<(T0, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1> VersionBorrowedBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [VersionBorrowed].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionBorrowed>
                where
                    Self: ::planus::WriteAsOffset<VersionBorrowed>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsDefault<u32, u32>>
                ::planus::WriteAs<::planus::Offset<VersionBorrowed>>
                for VersionBorrowedBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<VersionBorrowed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionBorrowed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsDefault<u32, u32>>
                ::planus::WriteAsOptional<::planus::Offset<VersionBorrowed>>
                for VersionBorrowedBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<VersionBorrowed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionBorrowed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsDefault<u32, u32>>
                ::planus::WriteAsOffset<VersionBorrowed> for VersionBorrowedBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionBorrowed> {
                    let (v0, v1) = &self.0;
                    VersionBorrowed::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [VersionBorrowed].
            #[derive(Copy, Clone)]
            pub struct VersionBorrowedRef<'a>(
                #[allow(dead_code)] ::planus::table_reader::Table<'a>,
            );

            impl<'a> VersionBorrowedRef<'a> {
                /// Getter for the [`version` field](VersionBorrowed#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "VersionBorrowed", "version")
                }

                /// Getter for the [`user` field](VersionBorrowed#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "VersionBorrowed", "user")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for VersionBorrowedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("VersionBorrowedRef");
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    f.field("user", &self.user());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<VersionBorrowedRef<'a>> for VersionBorrowed {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: VersionBorrowedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: value.version()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for VersionBorrowedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for VersionBorrowedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[VersionBorrowedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<VersionBorrowed>> for VersionBorrowed {
                type Value = ::planus::Offset<VersionBorrowed>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<VersionBorrowed>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for VersionBorrowedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[VersionBorrowedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `VersionReady` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `VersionReady` in the file `schema/journal.fbs:163`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct VersionReady {
                /// The field `version` in the table `VersionReady`
                pub version: ::core::option::Option<self::Id>,
                /// The field `token` in the table `VersionReady`
                pub token: ::core::option::Option<self::Id>,
                /// The field `layout` in the table `VersionReady`
                pub layout: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `content` in the table `VersionReady`
                pub content: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `tensors` in the table `VersionReady`
                pub tensors: u32,
                /// The field `bytes` in the table `VersionReady`
                pub bytes: u64,
                /// The field `source` in the table `VersionReady`
                pub source: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `ready_unix_ms` in the table `VersionReady`
                pub ready_unix_ms: u64,
                /// The field `current` in the table `VersionReady`
                pub current: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for VersionReady {
                fn default() -> Self {
                    Self {
                        version: ::core::default::Default::default(),
                        token: ::core::default::Default::default(),
                        layout: ::core::default::Default::default(),
                        content: ::core::default::Default::default(),
                        tensors: 0,
                        bytes: 0,
                        source: ::core::default::Default::default(),
                        ready_unix_ms: 0,
                        current: false,
                    }
                }
            }

            impl VersionReady {
                /// Creates a [VersionReadyBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> VersionReadyBuilder<()> {
                    VersionReadyBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                    field_layout: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_content: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_tensors: impl ::planus::WriteAsDefault<u32, u32>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_source: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_ready_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_current: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder);
                    let prepared_token = field_token.prepare(builder);
                    let prepared_layout = field_layout.prepare(builder);
                    let prepared_content = field_content.prepare(builder);
                    let prepared_tensors = field_tensors.prepare(builder, &0);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_source = field_source.prepare(builder);
                    let prepared_ready_unix_ms = field_ready_unix_ms.prepare(builder, &0);
                    let prepared_current = field_current.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<22> =
                        ::core::default::Default::default();
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(5);
                    }
                    if prepared_ready_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(7);
                    }
                    if prepared_layout.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(2);
                    }
                    if prepared_content.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(3);
                    }
                    if prepared_tensors.is_some() {
                        table_writer.write_entry::<u32>(4);
                    }
                    if prepared_source.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(6);
                    }
                    if prepared_current.is_some() {
                        table_writer.write_entry::<bool>(8);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_ready_unix_ms) =
                                prepared_ready_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_ready_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_layout) = prepared_layout {
                                object_writer.write::<_, _, 4>(&prepared_layout);
                            }
                            if let ::core::option::Option::Some(prepared_content) = prepared_content
                            {
                                object_writer.write::<_, _, 4>(&prepared_content);
                            }
                            if let ::core::option::Option::Some(prepared_tensors) = prepared_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_tensors);
                            }
                            if let ::core::option::Option::Some(prepared_source) = prepared_source {
                                object_writer.write::<_, _, 4>(&prepared_source);
                            }
                            if let ::core::option::Option::Some(prepared_current) = prepared_current
                            {
                                object_writer.write::<_, _, 1>(&prepared_current);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<VersionReady>> for VersionReady {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionReady> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<VersionReady>> for VersionReady {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionReady>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<VersionReady> for VersionReady {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionReady> {
                    VersionReady::create(
                        builder,
                        self.version,
                        self.token,
                        &self.layout,
                        &self.content,
                        self.tensors,
                        self.bytes,
                        &self.source,
                        self.ready_unix_ms,
                        self.current,
                    )
                }
            }

            /// Builder for serializing an instance of the [VersionReady] type.
            ///
            /// Can be created using the [VersionReady::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct VersionReadyBuilder<State>(State);

            impl VersionReadyBuilder<()> {
                /// Setter for the [`version` field](VersionReady#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> VersionReadyBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    VersionReadyBuilder((value,))
                }

                /// Sets the [`version` field](VersionReady#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> VersionReadyBuilder<((),)> {
                    self.version(())
                }
            }

            impl<T0> VersionReadyBuilder<(T0,)> {
                /// Setter for the [`token` field](VersionReady#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T1>(self, value: T1) -> VersionReadyBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    VersionReadyBuilder((v0, value))
                }

                /// Sets the [`token` field](VersionReady#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> VersionReadyBuilder<(T0, ())> {
                    self.token(())
                }
            }

            impl<T0, T1> VersionReadyBuilder<(T0, T1)> {
                /// Setter for the [`layout` field](VersionReady#structfield.layout).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn layout<T2>(self, value: T2) -> VersionReadyBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1) = self.0;
                    VersionReadyBuilder((v0, v1, value))
                }

                /// Sets the [`layout` field](VersionReady#structfield.layout) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn layout_as_null(self) -> VersionReadyBuilder<(T0, T1, ())> {
                    self.layout(())
                }
            }

            impl<T0, T1, T2> VersionReadyBuilder<(T0, T1, T2)> {
                /// Setter for the [`content` field](VersionReady#structfield.content).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn content<T3>(self, value: T3) -> VersionReadyBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2) = self.0;
                    VersionReadyBuilder((v0, v1, v2, value))
                }

                /// Sets the [`content` field](VersionReady#structfield.content) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn content_as_null(self) -> VersionReadyBuilder<(T0, T1, T2, ())> {
                    self.content(())
                }
            }

            impl<T0, T1, T2, T3> VersionReadyBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`tensors` field](VersionReady#structfield.tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors<T4>(self, value: T4) -> VersionReadyBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    VersionReadyBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`tensors` field](VersionReady#structfield.tensors) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors_as_default(
                    self,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.tensors(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> VersionReadyBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`bytes` field](VersionReady#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T5>(self, value: T5) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    VersionReadyBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`bytes` field](VersionReady#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(
                    self,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`source` field](VersionReady#structfield.source).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn source<T6>(
                    self,
                    value: T6,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    VersionReadyBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`source` field](VersionReady#structfield.source) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn source_as_null(self) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.source(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`ready_unix_ms` field](VersionReady#structfield.ready_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ready_unix_ms<T7>(
                    self,
                    value: T7,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    VersionReadyBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`ready_unix_ms` field](VersionReady#structfield.ready_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ready_unix_ms_as_default(
                    self,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.ready_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`current` field](VersionReady#structfield.current).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn current<T8>(
                    self,
                    value: T8,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    VersionReadyBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`current` field](VersionReady#structfield.current) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn current_as_default(
                    self,
                ) -> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.current(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [VersionReady].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionReady>
                where
                    Self: ::planus::WriteAsOffset<VersionReady>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<VersionReady>>
                for VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                type Prepared = ::planus::Offset<VersionReady>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionReady> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<VersionReady>>
                for VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                type Prepared = ::planus::Offset<VersionReady>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionReady>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<VersionReady>
                for VersionReadyBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionReady> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = &self.0;
                    VersionReady::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8)
                }
            }

            /// Reference to a deserialized [VersionReady].
            #[derive(Copy, Clone)]
            pub struct VersionReadyRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> VersionReadyRef<'a> {
                /// Getter for the [`version` field](VersionReady#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "VersionReady", "version")
                }

                /// Getter for the [`token` field](VersionReady#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "VersionReady", "token")
                }

                /// Getter for the [`layout` field](VersionReady#structfield.layout).
                #[inline]
                pub fn layout(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(2, "VersionReady", "layout")
                }

                /// Getter for the [`content` field](VersionReady#structfield.content).
                #[inline]
                pub fn content(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(3, "VersionReady", "content")
                }

                /// Getter for the [`tensors` field](VersionReady#structfield.tensors).
                #[inline]
                pub fn tensors(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "VersionReady", "tensors")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`bytes` field](VersionReady#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "VersionReady", "bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`source` field](VersionReady#structfield.source).
                #[inline]
                pub fn source(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(6, "VersionReady", "source")
                }

                /// Getter for the [`ready_unix_ms` field](VersionReady#structfield.ready_unix_ms).
                #[inline]
                pub fn ready_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(7, "VersionReady", "ready_unix_ms")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`current` field](VersionReady#structfield.current).
                #[inline]
                pub fn current(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(8, "VersionReady", "current")?
                            .unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for VersionReadyRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("VersionReadyRef");
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    if let ::core::option::Option::Some(field_layout) = self.layout().transpose() {
                        f.field("layout", &field_layout);
                    }
                    if let ::core::option::Option::Some(field_content) = self.content().transpose()
                    {
                        f.field("content", &field_content);
                    }
                    f.field("tensors", &self.tensors());
                    f.field("bytes", &self.bytes());
                    if let ::core::option::Option::Some(field_source) = self.source().transpose() {
                        f.field("source", &field_source);
                    }
                    f.field("ready_unix_ms", &self.ready_unix_ms());
                    f.field("current", &self.current());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<VersionReadyRef<'a>> for VersionReady {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: VersionReadyRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: value.version()?.map(::core::convert::Into::into),
                        token: value.token()?.map(::core::convert::Into::into),
                        layout: value.layout()?.map(|v| v.to_vec()),
                        content: value.content()?.map(|v| v.to_vec()),
                        tensors: ::core::convert::TryInto::try_into(value.tensors()?)?,
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        source: value.source()?.map(::core::convert::Into::into),
                        ready_unix_ms: ::core::convert::TryInto::try_into(value.ready_unix_ms()?)?,
                        current: ::core::convert::TryInto::try_into(value.current()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for VersionReadyRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for VersionReadyRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[VersionReadyRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<VersionReady>> for VersionReady {
                type Value = ::planus::Offset<VersionReady>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<VersionReady>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for VersionReadyRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[VersionReadyRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `VersionCurrent` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `VersionCurrent` in the file `schema/journal.fbs:177`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct VersionCurrent {
                /// The field `version` in the table `VersionCurrent`
                pub version: ::core::option::Option<self::Id>,
                /// The field `token` in the table `VersionCurrent`
                pub token: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for VersionCurrent {
                fn default() -> Self {
                    Self {
                        version: ::core::default::Default::default(),
                        token: ::core::default::Default::default(),
                    }
                }
            }

            impl VersionCurrent {
                /// Creates a [VersionCurrentBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> VersionCurrentBuilder<()> {
                    VersionCurrentBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder);
                    let prepared_token = field_token.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<VersionCurrent>> for VersionCurrent {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionCurrent> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<VersionCurrent>> for VersionCurrent {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionCurrent>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<VersionCurrent> for VersionCurrent {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionCurrent> {
                    VersionCurrent::create(builder, self.version, self.token)
                }
            }

            /// Builder for serializing an instance of the [VersionCurrent] type.
            ///
            /// Can be created using the [VersionCurrent::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct VersionCurrentBuilder<State>(State);

            impl VersionCurrentBuilder<()> {
                /// Setter for the [`version` field](VersionCurrent#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> VersionCurrentBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    VersionCurrentBuilder((value,))
                }

                /// Sets the [`version` field](VersionCurrent#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> VersionCurrentBuilder<((),)> {
                    self.version(())
                }
            }

            impl<T0> VersionCurrentBuilder<(T0,)> {
                /// Setter for the [`token` field](VersionCurrent#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T1>(self, value: T1) -> VersionCurrentBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    VersionCurrentBuilder((v0, value))
                }

                /// Sets the [`token` field](VersionCurrent#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> VersionCurrentBuilder<(T0, ())> {
                    self.token(())
                }
            }

            impl<T0, T1> VersionCurrentBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [VersionCurrent].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionCurrent>
                where
                    Self: ::planus::WriteAsOffset<VersionCurrent>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<VersionCurrent>>
                for VersionCurrentBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<VersionCurrent>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionCurrent> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<VersionCurrent>>
                for VersionCurrentBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<VersionCurrent>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionCurrent>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>, T1: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOffset<VersionCurrent> for VersionCurrentBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionCurrent> {
                    let (v0, v1) = &self.0;
                    VersionCurrent::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [VersionCurrent].
            #[derive(Copy, Clone)]
            pub struct VersionCurrentRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> VersionCurrentRef<'a> {
                /// Getter for the [`version` field](VersionCurrent#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "VersionCurrent", "version")
                }

                /// Getter for the [`token` field](VersionCurrent#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "VersionCurrent", "token")
                }
            }

            impl<'a> ::core::fmt::Debug for VersionCurrentRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("VersionCurrentRef");
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<VersionCurrentRef<'a>> for VersionCurrent {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: VersionCurrentRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: value.version()?.map(::core::convert::Into::into),
                        token: value.token()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for VersionCurrentRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for VersionCurrentRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[VersionCurrentRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<VersionCurrent>> for VersionCurrent {
                type Value = ::planus::Offset<VersionCurrent>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<VersionCurrent>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for VersionCurrentRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[VersionCurrentRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `VersionDraining` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `VersionDraining` in the file `schema/journal.fbs:183`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct VersionDraining {
                /// The field `version` in the table `VersionDraining`
                pub version: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for VersionDraining {
                fn default() -> Self {
                    Self {
                        version: ::core::default::Default::default(),
                    }
                }
            }

            impl VersionDraining {
                /// Creates a [VersionDrainingBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> VersionDrainingBuilder<()> {
                    VersionDrainingBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<VersionDraining>> for VersionDraining {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionDraining> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<VersionDraining>> for VersionDraining {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionDraining>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<VersionDraining> for VersionDraining {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionDraining> {
                    VersionDraining::create(builder, self.version)
                }
            }

            /// Builder for serializing an instance of the [VersionDraining] type.
            ///
            /// Can be created using the [VersionDraining::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct VersionDrainingBuilder<State>(State);

            impl VersionDrainingBuilder<()> {
                /// Setter for the [`version` field](VersionDraining#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> VersionDrainingBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    VersionDrainingBuilder((value,))
                }

                /// Sets the [`version` field](VersionDraining#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> VersionDrainingBuilder<((),)> {
                    self.version(())
                }
            }

            impl<T0> VersionDrainingBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [VersionDraining].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionDraining>
                where
                    Self: ::planus::WriteAsOffset<VersionDraining>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<VersionDraining>>
                for VersionDrainingBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<VersionDraining>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionDraining> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<VersionDraining>>
                for VersionDrainingBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<VersionDraining>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionDraining>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<VersionDraining>
                for VersionDrainingBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionDraining> {
                    let (v0,) = &self.0;
                    VersionDraining::create(builder, v0)
                }
            }

            /// Reference to a deserialized [VersionDraining].
            #[derive(Copy, Clone)]
            pub struct VersionDrainingRef<'a>(
                #[allow(dead_code)] ::planus::table_reader::Table<'a>,
            );

            impl<'a> VersionDrainingRef<'a> {
                /// Getter for the [`version` field](VersionDraining#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "VersionDraining", "version")
                }
            }

            impl<'a> ::core::fmt::Debug for VersionDrainingRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("VersionDrainingRef");
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<VersionDrainingRef<'a>> for VersionDraining {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: VersionDrainingRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: value.version()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for VersionDrainingRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for VersionDrainingRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[VersionDrainingRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<VersionDraining>> for VersionDraining {
                type Value = ::planus::Offset<VersionDraining>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<VersionDraining>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for VersionDrainingRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[VersionDrainingRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `VersionGone` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `VersionGone` in the file `schema/journal.fbs:187`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct VersionGone {
                /// The field `version` in the table `VersionGone`
                pub version: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for VersionGone {
                fn default() -> Self {
                    Self {
                        version: ::core::default::Default::default(),
                    }
                }
            }

            impl VersionGone {
                /// Creates a [VersionGoneBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> VersionGoneBuilder<()> {
                    VersionGoneBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<VersionGone>> for VersionGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<VersionGone>> for VersionGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<VersionGone> for VersionGone {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionGone> {
                    VersionGone::create(builder, self.version)
                }
            }

            /// Builder for serializing an instance of the [VersionGone] type.
            ///
            /// Can be created using the [VersionGone::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct VersionGoneBuilder<State>(State);

            impl VersionGoneBuilder<()> {
                /// Setter for the [`version` field](VersionGone#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> VersionGoneBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    VersionGoneBuilder((value,))
                }

                /// Sets the [`version` field](VersionGone#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> VersionGoneBuilder<((),)> {
                    self.version(())
                }
            }

            impl<T0> VersionGoneBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [VersionGone].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionGone>
                where
                    Self: ::planus::WriteAsOffset<VersionGone>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<VersionGone>> for VersionGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<VersionGone>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<VersionGone>>
                for VersionGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<VersionGone>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<VersionGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<VersionGone>
                for VersionGoneBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<VersionGone> {
                    let (v0,) = &self.0;
                    VersionGone::create(builder, v0)
                }
            }

            /// Reference to a deserialized [VersionGone].
            #[derive(Copy, Clone)]
            pub struct VersionGoneRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> VersionGoneRef<'a> {
                /// Getter for the [`version` field](VersionGone#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "VersionGone", "version")
                }
            }

            impl<'a> ::core::fmt::Debug for VersionGoneRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("VersionGoneRef");
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<VersionGoneRef<'a>> for VersionGone {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: VersionGoneRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: value.version()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for VersionGoneRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for VersionGoneRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[VersionGoneRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<VersionGone>> for VersionGone {
                type Value = ::planus::Offset<VersionGone>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<VersionGone>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for VersionGoneRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[VersionGoneRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Renamed` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `Renamed` in the file `schema/journal.fbs:192`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Renamed {
                /// The field `tensor` in the table `Renamed`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `version` in the table `Renamed`
                pub version: ::core::option::Option<self::Id>,
                /// The field `name` in the table `Renamed`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `token` in the table `Renamed`
                pub token: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Renamed {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        version: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        token: ::core::default::Default::default(),
                    }
                }
            }

            impl Renamed {
                /// Creates a [RenamedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> RenamedBuilder<()> {
                    RenamedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_version: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_version = field_version.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_token = field_token.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<12> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_version.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(3);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 16>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Renamed>> for Renamed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Renamed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Renamed>> for Renamed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Renamed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Renamed> for Renamed {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Renamed> {
                    Renamed::create(builder, self.tensor, self.version, &self.name, self.token)
                }
            }

            /// Builder for serializing an instance of the [Renamed] type.
            ///
            /// Can be created using the [Renamed::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct RenamedBuilder<State>(State);

            impl RenamedBuilder<()> {
                /// Setter for the [`tensor` field](Renamed#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> RenamedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    RenamedBuilder((value,))
                }

                /// Sets the [`tensor` field](Renamed#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> RenamedBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> RenamedBuilder<(T0,)> {
                /// Setter for the [`version` field](Renamed#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T1>(self, value: T1) -> RenamedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    RenamedBuilder((v0, value))
                }

                /// Sets the [`version` field](Renamed#structfield.version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_null(self) -> RenamedBuilder<(T0, ())> {
                    self.version(())
                }
            }

            impl<T0, T1> RenamedBuilder<(T0, T1)> {
                /// Setter for the [`name` field](Renamed#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T2>(self, value: T2) -> RenamedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    RenamedBuilder((v0, v1, value))
                }

                /// Sets the [`name` field](Renamed#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> RenamedBuilder<(T0, T1, ())> {
                    self.name(())
                }
            }

            impl<T0, T1, T2> RenamedBuilder<(T0, T1, T2)> {
                /// Setter for the [`token` field](Renamed#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T3>(self, value: T3) -> RenamedBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2) = self.0;
                    RenamedBuilder((v0, v1, v2, value))
                }

                /// Sets the [`token` field](Renamed#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> RenamedBuilder<(T0, T1, T2, ())> {
                    self.token(())
                }
            }

            impl<T0, T1, T2, T3> RenamedBuilder<(T0, T1, T2, T3)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Renamed].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Renamed>
                where
                    Self: ::planus::WriteAsOffset<Renamed>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAs<::planus::Offset<Renamed>> for RenamedBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<Renamed>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Renamed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOptional<::planus::Offset<Renamed>>
                for RenamedBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<Renamed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Renamed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOffset<Renamed> for RenamedBuilder<(T0, T1, T2, T3)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Renamed> {
                    let (v0, v1, v2, v3) = &self.0;
                    Renamed::create(builder, v0, v1, v2, v3)
                }
            }

            /// Reference to a deserialized [Renamed].
            #[derive(Copy, Clone)]
            pub struct RenamedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> RenamedRef<'a> {
                /// Getter for the [`tensor` field](Renamed#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "Renamed", "tensor")
                }

                /// Getter for the [`version` field](Renamed#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "Renamed", "version")
                }

                /// Getter for the [`name` field](Renamed#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "Renamed", "name")
                }

                /// Getter for the [`token` field](Renamed#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(3, "Renamed", "token")
                }
            }

            impl<'a> ::core::fmt::Debug for RenamedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("RenamedRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_version) = self.version().transpose()
                    {
                        f.field("version", &field_version);
                    }
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<RenamedRef<'a>> for Renamed {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: RenamedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        version: value.version()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        token: value.token()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for RenamedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for RenamedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[RenamedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Renamed>> for Renamed {
                type Value = ::planus::Offset<Renamed>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Renamed>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for RenamedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[RenamedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `DeviceSeen` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `DeviceSeen` in the file `schema/journal.fbs:201`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct DeviceSeen {
                /// The field `device` in the table `DeviceSeen`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `index` in the table `DeviceSeen`
                pub index: u32,
                /// The field `name` in the table `DeviceSeen`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `total_bytes` in the table `DeviceSeen`
                pub total_bytes: u64,
                /// The field `capacity_bytes` in the table `DeviceSeen`
                pub capacity_bytes: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for DeviceSeen {
                fn default() -> Self {
                    Self {
                        device: ::core::default::Default::default(),
                        index: 0,
                        name: ::core::default::Default::default(),
                        total_bytes: 0,
                        capacity_bytes: 0,
                    }
                }
            }

            impl DeviceSeen {
                /// Creates a [DeviceSeenBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> DeviceSeenBuilder<()> {
                    DeviceSeenBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_index: impl ::planus::WriteAsDefault<u32, u32>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_total_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_capacity_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_device = field_device.prepare(builder);
                    let prepared_index = field_index.prepare(builder, &0);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_total_bytes = field_total_bytes.prepare(builder, &0);
                    let prepared_capacity_bytes = field_capacity_bytes.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<14> =
                        ::core::default::Default::default();
                    if prepared_total_bytes.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_capacity_bytes.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(0);
                    }
                    if prepared_index.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_total_bytes) =
                                prepared_total_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_total_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_capacity_bytes) =
                                prepared_capacity_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_capacity_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_index) = prepared_index {
                                object_writer.write::<_, _, 4>(&prepared_index);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<DeviceSeen>> for DeviceSeen {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceSeen> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<DeviceSeen>> for DeviceSeen {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<DeviceSeen>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<DeviceSeen> for DeviceSeen {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceSeen> {
                    DeviceSeen::create(
                        builder,
                        &self.device,
                        self.index,
                        &self.name,
                        self.total_bytes,
                        self.capacity_bytes,
                    )
                }
            }

            /// Builder for serializing an instance of the [DeviceSeen] type.
            ///
            /// Can be created using the [DeviceSeen::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct DeviceSeenBuilder<State>(State);

            impl DeviceSeenBuilder<()> {
                /// Setter for the [`device` field](DeviceSeen#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T0>(self, value: T0) -> DeviceSeenBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    DeviceSeenBuilder((value,))
                }

                /// Sets the [`device` field](DeviceSeen#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> DeviceSeenBuilder<((),)> {
                    self.device(())
                }
            }

            impl<T0> DeviceSeenBuilder<(T0,)> {
                /// Setter for the [`index` field](DeviceSeen#structfield.index).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn index<T1>(self, value: T1) -> DeviceSeenBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    DeviceSeenBuilder((v0, value))
                }

                /// Sets the [`index` field](DeviceSeen#structfield.index) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn index_as_default(self) -> DeviceSeenBuilder<(T0, ::planus::DefaultValue)> {
                    self.index(::planus::DefaultValue)
                }
            }

            impl<T0, T1> DeviceSeenBuilder<(T0, T1)> {
                /// Setter for the [`name` field](DeviceSeen#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T2>(self, value: T2) -> DeviceSeenBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    DeviceSeenBuilder((v0, v1, value))
                }

                /// Sets the [`name` field](DeviceSeen#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> DeviceSeenBuilder<(T0, T1, ())> {
                    self.name(())
                }
            }

            impl<T0, T1, T2> DeviceSeenBuilder<(T0, T1, T2)> {
                /// Setter for the [`total_bytes` field](DeviceSeen#structfield.total_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn total_bytes<T3>(self, value: T3) -> DeviceSeenBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    DeviceSeenBuilder((v0, v1, v2, value))
                }

                /// Sets the [`total_bytes` field](DeviceSeen#structfield.total_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn total_bytes_as_default(
                    self,
                ) -> DeviceSeenBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.total_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> DeviceSeenBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`capacity_bytes` field](DeviceSeen#structfield.capacity_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capacity_bytes<T4>(
                    self,
                    value: T4,
                ) -> DeviceSeenBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    DeviceSeenBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`capacity_bytes` field](DeviceSeen#structfield.capacity_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capacity_bytes_as_default(
                    self,
                ) -> DeviceSeenBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.capacity_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> DeviceSeenBuilder<(T0, T1, T2, T3, T4)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [DeviceSeen].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceSeen>
                where
                    Self: ::planus::WriteAsOffset<DeviceSeen>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<DeviceSeen>>
                for DeviceSeenBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<DeviceSeen>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceSeen> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<DeviceSeen>>
                for DeviceSeenBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<DeviceSeen>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<DeviceSeen>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<DeviceSeen> for DeviceSeenBuilder<(T0, T1, T2, T3, T4)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceSeen> {
                    let (v0, v1, v2, v3, v4) = &self.0;
                    DeviceSeen::create(builder, v0, v1, v2, v3, v4)
                }
            }

            /// Reference to a deserialized [DeviceSeen].
            #[derive(Copy, Clone)]
            pub struct DeviceSeenRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> DeviceSeenRef<'a> {
                /// Getter for the [`device` field](DeviceSeen#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(0, "DeviceSeen", "device")
                }

                /// Getter for the [`index` field](DeviceSeen#structfield.index).
                #[inline]
                pub fn index(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "DeviceSeen", "index")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`name` field](DeviceSeen#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "DeviceSeen", "name")
                }

                /// Getter for the [`total_bytes` field](DeviceSeen#structfield.total_bytes).
                #[inline]
                pub fn total_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "DeviceSeen", "total_bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`capacity_bytes` field](DeviceSeen#structfield.capacity_bytes).
                #[inline]
                pub fn capacity_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(4, "DeviceSeen", "capacity_bytes")?
                            .unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for DeviceSeenRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("DeviceSeenRef");
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    f.field("index", &self.index());
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("total_bytes", &self.total_bytes());
                    f.field("capacity_bytes", &self.capacity_bytes());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<DeviceSeenRef<'a>> for DeviceSeen {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: DeviceSeenRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        device: value.device()?.map(|v| v.to_vec()),
                        index: ::core::convert::TryInto::try_into(value.index()?)?,
                        name: value.name()?.map(::core::convert::Into::into),
                        total_bytes: ::core::convert::TryInto::try_into(value.total_bytes()?)?,
                        capacity_bytes: ::core::convert::TryInto::try_into(
                            value.capacity_bytes()?,
                        )?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for DeviceSeenRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for DeviceSeenRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[DeviceSeenRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<DeviceSeen>> for DeviceSeen {
                type Value = ::planus::Offset<DeviceSeen>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<DeviceSeen>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for DeviceSeenRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[DeviceSeenRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `HostMade` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `HostMade` in the file `schema/journal.fbs:210`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct HostMade {
                /// The field `host` in the table `HostMade`
                pub host: ::core::option::Option<self::Id>,
                /// The field `device` in the table `HostMade`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `tenant` in the table `HostMade`
                pub tenant: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `user` in the table `HostMade`
                pub user: u32,
                /// The field `group` in the table `HostMade`
                pub group: u32,
                /// The field `audience` in the table `HostMade`
                pub audience: u8,
                /// The field `pid` in the table `HostMade`
                pub pid: u32,
                /// The field `since_unix_ms` in the table `HostMade`
                pub since_unix_ms: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for HostMade {
                fn default() -> Self {
                    Self {
                        host: ::core::default::Default::default(),
                        device: ::core::default::Default::default(),
                        tenant: ::core::default::Default::default(),
                        user: 0,
                        group: 0,
                        audience: 0,
                        pid: 0,
                        since_unix_ms: 0,
                    }
                }
            }

            impl HostMade {
                /// Creates a [HostMadeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> HostMadeBuilder<()> {
                    HostMadeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_host: impl ::planus::WriteAsOptional<self::Id>,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_tenant: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_group: impl ::planus::WriteAsDefault<u32, u32>,
                    field_audience: impl ::planus::WriteAsDefault<u8, u8>,
                    field_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_since_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_host = field_host.prepare(builder);
                    let prepared_device = field_device.prepare(builder);
                    let prepared_tenant = field_tenant.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_group = field_group.prepare(builder, &0);
                    let prepared_audience = field_audience.prepare(builder, &0);
                    let prepared_pid = field_pid.prepare(builder, &0);
                    let prepared_since_unix_ms = field_since_unix_ms.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<20> =
                        ::core::default::Default::default();
                    if prepared_host.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_since_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(7);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(1);
                    }
                    if prepared_tenant.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(3);
                    }
                    if prepared_group.is_some() {
                        table_writer.write_entry::<u32>(4);
                    }
                    if prepared_pid.is_some() {
                        table_writer.write_entry::<u32>(6);
                    }
                    if prepared_audience.is_some() {
                        table_writer.write_entry::<u8>(5);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_host) = prepared_host {
                                object_writer.write::<_, _, 16>(&prepared_host);
                            }
                            if let ::core::option::Option::Some(prepared_since_unix_ms) =
                                prepared_since_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_since_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_tenant) = prepared_tenant {
                                object_writer.write::<_, _, 4>(&prepared_tenant);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_group) = prepared_group {
                                object_writer.write::<_, _, 4>(&prepared_group);
                            }
                            if let ::core::option::Option::Some(prepared_pid) = prepared_pid {
                                object_writer.write::<_, _, 4>(&prepared_pid);
                            }
                            if let ::core::option::Option::Some(prepared_audience) =
                                prepared_audience
                            {
                                object_writer.write::<_, _, 1>(&prepared_audience);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<HostMade>> for HostMade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostMade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<HostMade>> for HostMade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HostMade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<HostMade> for HostMade {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostMade> {
                    HostMade::create(
                        builder,
                        self.host,
                        &self.device,
                        &self.tenant,
                        self.user,
                        self.group,
                        self.audience,
                        self.pid,
                        self.since_unix_ms,
                    )
                }
            }

            /// Builder for serializing an instance of the [HostMade] type.
            ///
            /// Can be created using the [HostMade::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct HostMadeBuilder<State>(State);

            impl HostMadeBuilder<()> {
                /// Setter for the [`host` field](HostMade#structfield.host).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn host<T0>(self, value: T0) -> HostMadeBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    HostMadeBuilder((value,))
                }

                /// Sets the [`host` field](HostMade#structfield.host) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn host_as_null(self) -> HostMadeBuilder<((),)> {
                    self.host(())
                }
            }

            impl<T0> HostMadeBuilder<(T0,)> {
                /// Setter for the [`device` field](HostMade#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T1>(self, value: T1) -> HostMadeBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0,) = self.0;
                    HostMadeBuilder((v0, value))
                }

                /// Sets the [`device` field](HostMade#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> HostMadeBuilder<(T0, ())> {
                    self.device(())
                }
            }

            impl<T0, T1> HostMadeBuilder<(T0, T1)> {
                /// Setter for the [`tenant` field](HostMade#structfield.tenant).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant<T2>(self, value: T2) -> HostMadeBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    HostMadeBuilder((v0, v1, value))
                }

                /// Sets the [`tenant` field](HostMade#structfield.tenant) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant_as_null(self) -> HostMadeBuilder<(T0, T1, ())> {
                    self.tenant(())
                }
            }

            impl<T0, T1, T2> HostMadeBuilder<(T0, T1, T2)> {
                /// Setter for the [`user` field](HostMade#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T3>(self, value: T3) -> HostMadeBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2) = self.0;
                    HostMadeBuilder((v0, v1, v2, value))
                }

                /// Sets the [`user` field](HostMade#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> HostMadeBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> HostMadeBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`group` field](HostMade#structfield.group).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group<T4>(self, value: T4) -> HostMadeBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    HostMadeBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`group` field](HostMade#structfield.group) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn group_as_default(
                    self,
                ) -> HostMadeBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.group(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> HostMadeBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`audience` field](HostMade#structfield.audience).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience<T5>(self, value: T5) -> HostMadeBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    HostMadeBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`audience` field](HostMade#structfield.audience) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience_as_default(
                    self,
                ) -> HostMadeBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)> {
                    self.audience(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> HostMadeBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`pid` field](HostMade#structfield.pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid<T6>(self, value: T6) -> HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    HostMadeBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`pid` field](HostMade#structfield.pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid_as_default(
                    self,
                ) -> HostMadeBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`since_unix_ms` field](HostMade#structfield.since_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms<T7>(
                    self,
                    value: T7,
                ) -> HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    HostMadeBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`since_unix_ms` field](HostMade#structfield.since_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms_as_default(
                    self,
                ) -> HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.since_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [HostMade].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostMade>
                where
                    Self: ::planus::WriteAsOffset<HostMade>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u8, u8>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<HostMade>>
                for HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<HostMade>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostMade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u8, u8>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<HostMade>>
                for HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<HostMade>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HostMade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsDefault<u8, u8>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<HostMade>
                for HostMadeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostMade> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = &self.0;
                    HostMade::create(builder, v0, v1, v2, v3, v4, v5, v6, v7)
                }
            }

            /// Reference to a deserialized [HostMade].
            #[derive(Copy, Clone)]
            pub struct HostMadeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> HostMadeRef<'a> {
                /// Getter for the [`host` field](HostMade#structfield.host).
                #[inline]
                pub fn host(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "HostMade", "host")
                }

                /// Getter for the [`device` field](HostMade#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(1, "HostMade", "device")
                }

                /// Getter for the [`tenant` field](HostMade#structfield.tenant).
                #[inline]
                pub fn tenant(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "HostMade", "tenant")
                }

                /// Getter for the [`user` field](HostMade#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(3, "HostMade", "user")?.unwrap_or(0))
                }

                /// Getter for the [`group` field](HostMade#structfield.group).
                #[inline]
                pub fn group(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(4, "HostMade", "group")?.unwrap_or(0))
                }

                /// Getter for the [`audience` field](HostMade#structfield.audience).
                #[inline]
                pub fn audience(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "HostMade", "audience")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`pid` field](HostMade#structfield.pid).
                #[inline]
                pub fn pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(6, "HostMade", "pid")?.unwrap_or(0))
                }

                /// Getter for the [`since_unix_ms` field](HostMade#structfield.since_unix_ms).
                #[inline]
                pub fn since_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "HostMade", "since_unix_ms")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for HostMadeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HostMadeRef");
                    if let ::core::option::Option::Some(field_host) = self.host().transpose() {
                        f.field("host", &field_host);
                    }
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    if let ::core::option::Option::Some(field_tenant) = self.tenant().transpose() {
                        f.field("tenant", &field_tenant);
                    }
                    f.field("user", &self.user());
                    f.field("group", &self.group());
                    f.field("audience", &self.audience());
                    f.field("pid", &self.pid());
                    f.field("since_unix_ms", &self.since_unix_ms());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<HostMadeRef<'a>> for HostMade {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: HostMadeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        host: value.host()?.map(::core::convert::Into::into),
                        device: value.device()?.map(|v| v.to_vec()),
                        tenant: value.tenant()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        group: ::core::convert::TryInto::try_into(value.group()?)?,
                        audience: ::core::convert::TryInto::try_into(value.audience()?)?,
                        pid: ::core::convert::TryInto::try_into(value.pid()?)?,
                        since_unix_ms: ::core::convert::TryInto::try_into(value.since_unix_ms()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for HostMadeRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for HostMadeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[HostMadeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<HostMade>> for HostMade {
                type Value = ::planus::Offset<HostMade>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<HostMade>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for HostMadeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[HostMadeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `HostGone` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `HostGone` in the file `schema/journal.fbs:221`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct HostGone {
                /// The field `host` in the table `HostGone`
                pub host: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for HostGone {
                fn default() -> Self {
                    Self {
                        host: ::core::default::Default::default(),
                    }
                }
            }

            impl HostGone {
                /// Creates a [HostGoneBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> HostGoneBuilder<()> {
                    HostGoneBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_host: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_host = field_host.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_host.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_host) = prepared_host {
                                object_writer.write::<_, _, 16>(&prepared_host);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<HostGone>> for HostGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<HostGone>> for HostGone {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HostGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<HostGone> for HostGone {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostGone> {
                    HostGone::create(builder, self.host)
                }
            }

            /// Builder for serializing an instance of the [HostGone] type.
            ///
            /// Can be created using the [HostGone::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct HostGoneBuilder<State>(State);

            impl HostGoneBuilder<()> {
                /// Setter for the [`host` field](HostGone#structfield.host).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn host<T0>(self, value: T0) -> HostGoneBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    HostGoneBuilder((value,))
                }

                /// Sets the [`host` field](HostGone#structfield.host) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn host_as_null(self) -> HostGoneBuilder<((),)> {
                    self.host(())
                }
            }

            impl<T0> HostGoneBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [HostGone].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostGone>
                where
                    Self: ::planus::WriteAsOffset<HostGone>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<HostGone>> for HostGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<HostGone>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostGone> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<HostGone>> for HostGoneBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<HostGone>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HostGone>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<HostGone>
                for HostGoneBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HostGone> {
                    let (v0,) = &self.0;
                    HostGone::create(builder, v0)
                }
            }

            /// Reference to a deserialized [HostGone].
            #[derive(Copy, Clone)]
            pub struct HostGoneRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> HostGoneRef<'a> {
                /// Getter for the [`host` field](HostGone#structfield.host).
                #[inline]
                pub fn host(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "HostGone", "host")
                }
            }

            impl<'a> ::core::fmt::Debug for HostGoneRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HostGoneRef");
                    if let ::core::option::Option::Some(field_host) = self.host().transpose() {
                        f.field("host", &field_host);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<HostGoneRef<'a>> for HostGone {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: HostGoneRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        host: value.host()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for HostGoneRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for HostGoneRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[HostGoneRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<HostGone>> for HostGone {
                type Value = ::planus::Offset<HostGone>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<HostGone>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for HostGoneRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[HostGoneRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `HoldChanged` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `HoldChanged` in the file `schema/journal.fbs:226`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct HoldChanged {
                /// The field `tensor` in the table `HoldChanged`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `pid` in the table `HoldChanged`
                pub pid: u32,
                /// The field `started` in the table `HoldChanged`
                pub started: ::core::option::Option<u64>,
                /// The field `user` in the table `HoldChanged`
                pub user: u32,
                /// The field `count` in the table `HoldChanged`
                pub count: u64,
                /// The field `told` in the table `HoldChanged`
                pub told: ::core::option::Option<::planus::alloc::boxed::Box<self::HoldTold>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for HoldChanged {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        pid: 0,
                        started: ::core::default::Default::default(),
                        user: 0,
                        count: 0,
                        told: ::core::default::Default::default(),
                    }
                }
            }

            impl HoldChanged {
                /// Creates a [HoldChangedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> HoldChangedBuilder<()> {
                    HoldChangedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_started: impl ::planus::WriteAsOptional<u64>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_count: impl ::planus::WriteAsDefault<u64, u64>,
                    field_told: impl ::planus::WriteAsOptional<::planus::Offset<self::HoldTold>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_pid = field_pid.prepare(builder, &0);
                    let prepared_started = field_started.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_count = field_count.prepare(builder, &0);
                    let prepared_told = field_told.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<16> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_started.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_count.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_pid.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(3);
                    }
                    if prepared_told.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::HoldTold>>(5);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_started) = prepared_started
                            {
                                object_writer.write::<_, _, 8>(&prepared_started);
                            }
                            if let ::core::option::Option::Some(prepared_count) = prepared_count {
                                object_writer.write::<_, _, 8>(&prepared_count);
                            }
                            if let ::core::option::Option::Some(prepared_pid) = prepared_pid {
                                object_writer.write::<_, _, 4>(&prepared_pid);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_told) = prepared_told {
                                object_writer.write::<_, _, 4>(&prepared_told);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<HoldChanged>> for HoldChanged {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<HoldChanged> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<HoldChanged>> for HoldChanged {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HoldChanged>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<HoldChanged> for HoldChanged {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<HoldChanged> {
                    HoldChanged::create(
                        builder,
                        self.tensor,
                        self.pid,
                        self.started,
                        self.user,
                        self.count,
                        &self.told,
                    )
                }
            }

            /// Builder for serializing an instance of the [HoldChanged] type.
            ///
            /// Can be created using the [HoldChanged::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct HoldChangedBuilder<State>(State);

            impl HoldChangedBuilder<()> {
                /// Setter for the [`tensor` field](HoldChanged#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> HoldChangedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    HoldChangedBuilder((value,))
                }

                /// Sets the [`tensor` field](HoldChanged#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> HoldChangedBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> HoldChangedBuilder<(T0,)> {
                /// Setter for the [`pid` field](HoldChanged#structfield.pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid<T1>(self, value: T1) -> HoldChangedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    HoldChangedBuilder((v0, value))
                }

                /// Sets the [`pid` field](HoldChanged#structfield.pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid_as_default(self) -> HoldChangedBuilder<(T0, ::planus::DefaultValue)> {
                    self.pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1> HoldChangedBuilder<(T0, T1)> {
                /// Setter for the [`started` field](HoldChanged#structfield.started).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn started<T2>(self, value: T2) -> HoldChangedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1) = self.0;
                    HoldChangedBuilder((v0, v1, value))
                }

                /// Sets the [`started` field](HoldChanged#structfield.started) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn started_as_null(self) -> HoldChangedBuilder<(T0, T1, ())> {
                    self.started(())
                }
            }

            impl<T0, T1, T2> HoldChangedBuilder<(T0, T1, T2)> {
                /// Setter for the [`user` field](HoldChanged#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T3>(self, value: T3) -> HoldChangedBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2) = self.0;
                    HoldChangedBuilder((v0, v1, v2, value))
                }

                /// Sets the [`user` field](HoldChanged#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> HoldChangedBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> HoldChangedBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`count` field](HoldChanged#structfield.count).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn count<T4>(self, value: T4) -> HoldChangedBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    HoldChangedBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`count` field](HoldChanged#structfield.count) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn count_as_default(
                    self,
                ) -> HoldChangedBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.count(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> HoldChangedBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`told` field](HoldChanged#structfield.told).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn told<T5>(self, value: T5) -> HoldChangedBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<::planus::Offset<self::HoldTold>>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    HoldChangedBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`told` field](HoldChanged#structfield.told) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn told_as_null(self) -> HoldChangedBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.told(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> HoldChangedBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [HoldChanged].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<HoldChanged>
                where
                    Self: ::planus::WriteAsOffset<HoldChanged>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsOptional<u64>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsOptional<::planus::Offset<self::HoldTold>>,
            > ::planus::WriteAs<::planus::Offset<HoldChanged>>
                for HoldChangedBuilder<(T0, T1, T2, T3, T4, T5)>
            {
                type Prepared = ::planus::Offset<HoldChanged>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<HoldChanged> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsOptional<u64>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsOptional<::planus::Offset<self::HoldTold>>,
            > ::planus::WriteAsOptional<::planus::Offset<HoldChanged>>
                for HoldChangedBuilder<(T0, T1, T2, T3, T4, T5)>
            {
                type Prepared = ::planus::Offset<HoldChanged>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HoldChanged>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsOptional<u64>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsOptional<::planus::Offset<self::HoldTold>>,
            > ::planus::WriteAsOffset<HoldChanged>
                for HoldChangedBuilder<(T0, T1, T2, T3, T4, T5)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<HoldChanged> {
                    let (v0, v1, v2, v3, v4, v5) = &self.0;
                    HoldChanged::create(builder, v0, v1, v2, v3, v4, v5)
                }
            }

            /// Reference to a deserialized [HoldChanged].
            #[derive(Copy, Clone)]
            pub struct HoldChangedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> HoldChangedRef<'a> {
                /// Getter for the [`tensor` field](HoldChanged#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "HoldChanged", "tensor")
                }

                /// Getter for the [`pid` field](HoldChanged#structfield.pid).
                #[inline]
                pub fn pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(1, "HoldChanged", "pid")?.unwrap_or(0))
                }

                /// Getter for the [`started` field](HoldChanged#structfield.started).
                #[inline]
                pub fn started(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(2, "HoldChanged", "started")
                }

                /// Getter for the [`user` field](HoldChanged#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "HoldChanged", "user")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`count` field](HoldChanged#structfield.count).
                #[inline]
                pub fn count(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "HoldChanged", "count")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`told` field](HoldChanged#structfield.told).
                #[inline]
                pub fn told(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::HoldToldRef<'a>>>
                {
                    self.0.access(5, "HoldChanged", "told")
                }
            }

            impl<'a> ::core::fmt::Debug for HoldChangedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HoldChangedRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.field("pid", &self.pid());
                    if let ::core::option::Option::Some(field_started) = self.started().transpose()
                    {
                        f.field("started", &field_started);
                    }
                    f.field("user", &self.user());
                    f.field("count", &self.count());
                    if let ::core::option::Option::Some(field_told) = self.told().transpose() {
                        f.field("told", &field_told);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<HoldChangedRef<'a>> for HoldChanged {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: HoldChangedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        pid: ::core::convert::TryInto::try_into(value.pid()?)?,
                        started: if let ::core::option::Option::Some(started) = value.started()? {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                started,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        count: ::core::convert::TryInto::try_into(value.count()?)?,
                        told: if let ::core::option::Option::Some(told) = value.told()? {
                            ::core::option::Option::Some(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryInto::try_into(told)?,
                            ))
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for HoldChangedRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for HoldChangedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[HoldChangedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<HoldChanged>> for HoldChanged {
                type Value = ::planus::Offset<HoldChanged>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<HoldChanged>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for HoldChangedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[HoldChangedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `HoldTold` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `HoldTold` in the file `schema/journal.fbs:240`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct HoldTold {
                /// The field `user` in the table `HoldTold`
                pub user: u32,
                /// The field `token` in the table `HoldTold`
                pub token: ::core::option::Option<self::Id>,
                /// The field `tensor` in the table `HoldTold`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `answer` in the table `HoldTold`
                pub answer: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `create` in the table `HoldTold`
                pub create: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for HoldTold {
                fn default() -> Self {
                    Self {
                        user: 0,
                        token: ::core::default::Default::default(),
                        tensor: ::core::default::Default::default(),
                        answer: ::core::default::Default::default(),
                        create: ::core::default::Default::default(),
                    }
                }
            }

            impl HoldTold {
                /// Creates a [HoldToldBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> HoldToldBuilder<()> {
                    HoldToldBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_answer: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_create: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_token = field_token.prepare(builder);
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_answer = field_answer.prepare(builder);
                    let prepared_create = field_create.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<14> =
                        ::core::default::Default::default();
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(2);
                    }
                    if prepared_create.is_some() {
                        table_writer.write_entry::<self::Id>(4);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(0);
                    }
                    if prepared_answer.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(3);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_create) = prepared_create {
                                object_writer.write::<_, _, 16>(&prepared_create);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_answer) = prepared_answer {
                                object_writer.write::<_, _, 4>(&prepared_answer);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<HoldTold>> for HoldTold {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HoldTold> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<HoldTold>> for HoldTold {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HoldTold>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<HoldTold> for HoldTold {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HoldTold> {
                    HoldTold::create(
                        builder,
                        self.user,
                        self.token,
                        self.tensor,
                        &self.answer,
                        self.create,
                    )
                }
            }

            /// Builder for serializing an instance of the [HoldTold] type.
            ///
            /// Can be created using the [HoldTold::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct HoldToldBuilder<State>(State);

            impl HoldToldBuilder<()> {
                /// Setter for the [`user` field](HoldTold#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T0>(self, value: T0) -> HoldToldBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u32, u32>,
                {
                    HoldToldBuilder((value,))
                }

                /// Sets the [`user` field](HoldTold#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(self) -> HoldToldBuilder<(::planus::DefaultValue,)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0> HoldToldBuilder<(T0,)> {
                /// Setter for the [`token` field](HoldTold#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T1>(self, value: T1) -> HoldToldBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    HoldToldBuilder((v0, value))
                }

                /// Sets the [`token` field](HoldTold#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> HoldToldBuilder<(T0, ())> {
                    self.token(())
                }
            }

            impl<T0, T1> HoldToldBuilder<(T0, T1)> {
                /// Setter for the [`tensor` field](HoldTold#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T2>(self, value: T2) -> HoldToldBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1) = self.0;
                    HoldToldBuilder((v0, v1, value))
                }

                /// Sets the [`tensor` field](HoldTold#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> HoldToldBuilder<(T0, T1, ())> {
                    self.tensor(())
                }
            }

            impl<T0, T1, T2> HoldToldBuilder<(T0, T1, T2)> {
                /// Setter for the [`answer` field](HoldTold#structfield.answer).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn answer<T3>(self, value: T3) -> HoldToldBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2) = self.0;
                    HoldToldBuilder((v0, v1, v2, value))
                }

                /// Sets the [`answer` field](HoldTold#structfield.answer) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn answer_as_null(self) -> HoldToldBuilder<(T0, T1, T2, ())> {
                    self.answer(())
                }
            }

            impl<T0, T1, T2, T3> HoldToldBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`create` field](HoldTold#structfield.create).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn create<T4>(self, value: T4) -> HoldToldBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    HoldToldBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`create` field](HoldTold#structfield.create) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn create_as_null(self) -> HoldToldBuilder<(T0, T1, T2, T3, ())> {
                    self.create(())
                }
            }

            impl<T0, T1, T2, T3, T4> HoldToldBuilder<(T0, T1, T2, T3, T4)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [HoldTold].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<HoldTold>
                where
                    Self: ::planus::WriteAsOffset<HoldTold>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T4: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAs<::planus::Offset<HoldTold>>
                for HoldToldBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<HoldTold>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HoldTold> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T4: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOptional<::planus::Offset<HoldTold>>
                for HoldToldBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<HoldTold>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<HoldTold>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T4: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOffset<HoldTold> for HoldToldBuilder<(T0, T1, T2, T3, T4)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<HoldTold> {
                    let (v0, v1, v2, v3, v4) = &self.0;
                    HoldTold::create(builder, v0, v1, v2, v3, v4)
                }
            }

            /// Reference to a deserialized [HoldTold].
            #[derive(Copy, Clone)]
            pub struct HoldToldRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> HoldToldRef<'a> {
                /// Getter for the [`user` field](HoldTold#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(0, "HoldTold", "user")?.unwrap_or(0))
                }

                /// Getter for the [`token` field](HoldTold#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "HoldTold", "token")
                }

                /// Getter for the [`tensor` field](HoldTold#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(2, "HoldTold", "tensor")
                }

                /// Getter for the [`answer` field](HoldTold#structfield.answer).
                #[inline]
                pub fn answer(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(3, "HoldTold", "answer")
                }

                /// Getter for the [`create` field](HoldTold#structfield.create).
                #[inline]
                pub fn create(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(4, "HoldTold", "create")
                }
            }

            impl<'a> ::core::fmt::Debug for HoldToldRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HoldToldRef");
                    f.field("user", &self.user());
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_answer) = self.answer().transpose() {
                        f.field("answer", &field_answer);
                    }
                    if let ::core::option::Option::Some(field_create) = self.create().transpose() {
                        f.field("create", &field_create);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<HoldToldRef<'a>> for HoldTold {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: HoldToldRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        token: value.token()?.map(::core::convert::Into::into),
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        answer: value.answer()?.map(|v| v.to_vec()),
                        create: value.create()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for HoldToldRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for HoldToldRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[HoldToldRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<HoldTold>> for HoldTold {
                type Value = ::planus::Offset<HoldTold>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<HoldTold>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for HoldToldRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[HoldToldRef]", "read_as_root", 0)
                    })
                }
            }

            /// The union `Body` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Union `Body` in the file `schema/journal.fbs:251`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub enum Body {
                /// The variant of type `Opened` in the union `Body`
                Opened(::planus::alloc::boxed::Box<self::Opened>),

                /// The variant of type `ClientSeen` in the union `Body`
                ClientSeen(::planus::alloc::boxed::Box<self::ClientSeen>),

                /// The variant of type `ClientGone` in the union `Body`
                ClientGone(::planus::alloc::boxed::Box<self::ClientGone>),

                /// The variant of type `SlabMade` in the union `Body`
                SlabMade(::planus::alloc::boxed::Box<self::SlabMade>),

                /// The variant of type `SlabTainted` in the union `Body`
                SlabTainted(::planus::alloc::boxed::Box<self::SlabTainted>),

                /// The variant of type `SlabGone` in the union `Body`
                SlabGone(::planus::alloc::boxed::Box<self::SlabGone>),

                /// The variant of type `TensorMade` in the union `Body`
                TensorMade(::planus::alloc::boxed::Box<self::TensorMade>),

                /// The variant of type `TensorPublished` in the union `Body`
                TensorPublished(::planus::alloc::boxed::Box<self::TensorPublished>),

                /// The variant of type `TensorDeleted` in the union `Body`
                TensorDeleted(::planus::alloc::boxed::Box<self::TensorDeleted>),

                /// The variant of type `TensorFreed` in the union `Body`
                TensorFreed(::planus::alloc::boxed::Box<self::TensorFreed>),

                /// The variant of type `DeviceSeen` in the union `Body`
                DeviceSeen(::planus::alloc::boxed::Box<self::DeviceSeen>),

                /// The variant of type `TensorAccessed` in the union `Body`
                TensorAccessed(::planus::alloc::boxed::Box<self::TensorAccessed>),

                /// The variant of type `VersionStaged` in the union `Body`
                VersionStaged(::planus::alloc::boxed::Box<self::VersionStaged>),

                /// The variant of type `VersionReady` in the union `Body`
                VersionReady(::planus::alloc::boxed::Box<self::VersionReady>),

                /// The variant of type `VersionCurrent` in the union `Body`
                VersionCurrent(::planus::alloc::boxed::Box<self::VersionCurrent>),

                /// The variant of type `VersionDraining` in the union `Body`
                VersionDraining(::planus::alloc::boxed::Box<self::VersionDraining>),

                /// The variant of type `VersionGone` in the union `Body`
                VersionGone(::planus::alloc::boxed::Box<self::VersionGone>),

                /// The variant of type `Renamed` in the union `Body`
                Renamed(::planus::alloc::boxed::Box<self::Renamed>),

                /// The variant of type `SlabBorrowed` in the union `Body`
                SlabBorrowed(::planus::alloc::boxed::Box<self::SlabBorrowed>),

                /// The variant of type `VersionBorrowed` in the union `Body`
                VersionBorrowed(::planus::alloc::boxed::Box<self::VersionBorrowed>),

                /// The variant of type `HostMade` in the union `Body`
                HostMade(::planus::alloc::boxed::Box<self::HostMade>),

                /// The variant of type `HostGone` in the union `Body`
                HostGone(::planus::alloc::boxed::Box<self::HostGone>),

                /// The variant of type `HoldChanged` in the union `Body`
                HoldChanged(::planus::alloc::boxed::Box<self::HoldChanged>),

                /// The variant of type `HoldTold` in the union `Body`
                HoldTold(::planus::alloc::boxed::Box<self::HoldTold>),
            }

            impl Body {
                /// Creates a [BodyBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> BodyBuilder<::planus::Uninitialized> {
                    BodyBuilder(::planus::Uninitialized)
                }

                #[inline]
                pub fn create_opened(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Opened>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(1, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_client_seen(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::ClientSeen>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(2, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_client_gone(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::ClientGone>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(3, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_slab_made(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::SlabMade>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(4, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_slab_tainted(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::SlabTainted>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(5, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_slab_gone(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::SlabGone>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(6, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_made(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorMade>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(7, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_published(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorPublished>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(8, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_deleted(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorDeleted>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(9, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_freed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorFreed>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(10, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_device_seen(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::DeviceSeen>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(11, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_accessed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorAccessed>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(12, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_version_staged(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::VersionStaged>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(13, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_version_ready(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::VersionReady>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(14, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_version_current(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::VersionCurrent>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(15, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_version_draining(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::VersionDraining>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(16, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_version_gone(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::VersionGone>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(17, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_renamed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Renamed>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(18, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_slab_borrowed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::SlabBorrowed>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(19, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_version_borrowed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::VersionBorrowed>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(20, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_host_made(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::HostMade>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(21, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_host_gone(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::HostGone>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(22, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_hold_changed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::HoldChanged>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(23, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_hold_told(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::HoldTold>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(24, value.prepare(builder).downcast())
                }
            }

            impl ::planus::WriteAsUnion<Body> for Body {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Self> {
                    match self {
                        Self::Opened(value) => Self::create_opened(builder, value),
                        Self::ClientSeen(value) => Self::create_client_seen(builder, value),
                        Self::ClientGone(value) => Self::create_client_gone(builder, value),
                        Self::SlabMade(value) => Self::create_slab_made(builder, value),
                        Self::SlabTainted(value) => Self::create_slab_tainted(builder, value),
                        Self::SlabGone(value) => Self::create_slab_gone(builder, value),
                        Self::TensorMade(value) => Self::create_tensor_made(builder, value),
                        Self::TensorPublished(value) => {
                            Self::create_tensor_published(builder, value)
                        }
                        Self::TensorDeleted(value) => Self::create_tensor_deleted(builder, value),
                        Self::TensorFreed(value) => Self::create_tensor_freed(builder, value),
                        Self::DeviceSeen(value) => Self::create_device_seen(builder, value),
                        Self::TensorAccessed(value) => Self::create_tensor_accessed(builder, value),
                        Self::VersionStaged(value) => Self::create_version_staged(builder, value),
                        Self::VersionReady(value) => Self::create_version_ready(builder, value),
                        Self::VersionCurrent(value) => Self::create_version_current(builder, value),
                        Self::VersionDraining(value) => {
                            Self::create_version_draining(builder, value)
                        }
                        Self::VersionGone(value) => Self::create_version_gone(builder, value),
                        Self::Renamed(value) => Self::create_renamed(builder, value),
                        Self::SlabBorrowed(value) => Self::create_slab_borrowed(builder, value),
                        Self::VersionBorrowed(value) => {
                            Self::create_version_borrowed(builder, value)
                        }
                        Self::HostMade(value) => Self::create_host_made(builder, value),
                        Self::HostGone(value) => Self::create_host_gone(builder, value),
                        Self::HoldChanged(value) => Self::create_hold_changed(builder, value),
                        Self::HoldTold(value) => Self::create_hold_told(builder, value),
                    }
                }
            }

            impl ::planus::WriteAsOptionalUnion<Body> for Body {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Self>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }

            /// Builder for serializing an instance of the [Body] type.
            ///
            /// Can be created using the [Body::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct BodyBuilder<T>(T);

            impl BodyBuilder<::planus::Uninitialized> {
                /// Creates an instance of the [`Opened` variant](Body#variant.Opened).
                #[inline]
                pub fn opened<T>(self, value: T) -> BodyBuilder<::planus::Initialized<1, T>>
                where
                    T: ::planus::WriteAsOffset<self::Opened>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`ClientSeen` variant](Body#variant.ClientSeen).
                #[inline]
                pub fn client_seen<T>(self, value: T) -> BodyBuilder<::planus::Initialized<2, T>>
                where
                    T: ::planus::WriteAsOffset<self::ClientSeen>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`ClientGone` variant](Body#variant.ClientGone).
                #[inline]
                pub fn client_gone<T>(self, value: T) -> BodyBuilder<::planus::Initialized<3, T>>
                where
                    T: ::planus::WriteAsOffset<self::ClientGone>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`SlabMade` variant](Body#variant.SlabMade).
                #[inline]
                pub fn slab_made<T>(self, value: T) -> BodyBuilder<::planus::Initialized<4, T>>
                where
                    T: ::planus::WriteAsOffset<self::SlabMade>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`SlabTainted` variant](Body#variant.SlabTainted).
                #[inline]
                pub fn slab_tainted<T>(self, value: T) -> BodyBuilder<::planus::Initialized<5, T>>
                where
                    T: ::planus::WriteAsOffset<self::SlabTainted>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`SlabGone` variant](Body#variant.SlabGone).
                #[inline]
                pub fn slab_gone<T>(self, value: T) -> BodyBuilder<::planus::Initialized<6, T>>
                where
                    T: ::planus::WriteAsOffset<self::SlabGone>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorMade` variant](Body#variant.TensorMade).
                #[inline]
                pub fn tensor_made<T>(self, value: T) -> BodyBuilder<::planus::Initialized<7, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorMade>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorPublished` variant](Body#variant.TensorPublished).
                #[inline]
                pub fn tensor_published<T>(
                    self,
                    value: T,
                ) -> BodyBuilder<::planus::Initialized<8, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorPublished>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorDeleted` variant](Body#variant.TensorDeleted).
                #[inline]
                pub fn tensor_deleted<T>(self, value: T) -> BodyBuilder<::planus::Initialized<9, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorDeleted>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorFreed` variant](Body#variant.TensorFreed).
                #[inline]
                pub fn tensor_freed<T>(self, value: T) -> BodyBuilder<::planus::Initialized<10, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorFreed>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`DeviceSeen` variant](Body#variant.DeviceSeen).
                #[inline]
                pub fn device_seen<T>(self, value: T) -> BodyBuilder<::planus::Initialized<11, T>>
                where
                    T: ::planus::WriteAsOffset<self::DeviceSeen>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorAccessed` variant](Body#variant.TensorAccessed).
                #[inline]
                pub fn tensor_accessed<T>(
                    self,
                    value: T,
                ) -> BodyBuilder<::planus::Initialized<12, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorAccessed>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`VersionStaged` variant](Body#variant.VersionStaged).
                #[inline]
                pub fn version_staged<T>(
                    self,
                    value: T,
                ) -> BodyBuilder<::planus::Initialized<13, T>>
                where
                    T: ::planus::WriteAsOffset<self::VersionStaged>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`VersionReady` variant](Body#variant.VersionReady).
                #[inline]
                pub fn version_ready<T>(self, value: T) -> BodyBuilder<::planus::Initialized<14, T>>
                where
                    T: ::planus::WriteAsOffset<self::VersionReady>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`VersionCurrent` variant](Body#variant.VersionCurrent).
                #[inline]
                pub fn version_current<T>(
                    self,
                    value: T,
                ) -> BodyBuilder<::planus::Initialized<15, T>>
                where
                    T: ::planus::WriteAsOffset<self::VersionCurrent>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`VersionDraining` variant](Body#variant.VersionDraining).
                #[inline]
                pub fn version_draining<T>(
                    self,
                    value: T,
                ) -> BodyBuilder<::planus::Initialized<16, T>>
                where
                    T: ::planus::WriteAsOffset<self::VersionDraining>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`VersionGone` variant](Body#variant.VersionGone).
                #[inline]
                pub fn version_gone<T>(self, value: T) -> BodyBuilder<::planus::Initialized<17, T>>
                where
                    T: ::planus::WriteAsOffset<self::VersionGone>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Renamed` variant](Body#variant.Renamed).
                #[inline]
                pub fn renamed<T>(self, value: T) -> BodyBuilder<::planus::Initialized<18, T>>
                where
                    T: ::planus::WriteAsOffset<self::Renamed>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`SlabBorrowed` variant](Body#variant.SlabBorrowed).
                #[inline]
                pub fn slab_borrowed<T>(self, value: T) -> BodyBuilder<::planus::Initialized<19, T>>
                where
                    T: ::planus::WriteAsOffset<self::SlabBorrowed>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`VersionBorrowed` variant](Body#variant.VersionBorrowed).
                #[inline]
                pub fn version_borrowed<T>(
                    self,
                    value: T,
                ) -> BodyBuilder<::planus::Initialized<20, T>>
                where
                    T: ::planus::WriteAsOffset<self::VersionBorrowed>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`HostMade` variant](Body#variant.HostMade).
                #[inline]
                pub fn host_made<T>(self, value: T) -> BodyBuilder<::planus::Initialized<21, T>>
                where
                    T: ::planus::WriteAsOffset<self::HostMade>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`HostGone` variant](Body#variant.HostGone).
                #[inline]
                pub fn host_gone<T>(self, value: T) -> BodyBuilder<::planus::Initialized<22, T>>
                where
                    T: ::planus::WriteAsOffset<self::HostGone>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`HoldChanged` variant](Body#variant.HoldChanged).
                #[inline]
                pub fn hold_changed<T>(self, value: T) -> BodyBuilder<::planus::Initialized<23, T>>
                where
                    T: ::planus::WriteAsOffset<self::HoldChanged>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`HoldTold` variant](Body#variant.HoldTold).
                #[inline]
                pub fn hold_told<T>(self, value: T) -> BodyBuilder<::planus::Initialized<24, T>>
                where
                    T: ::planus::WriteAsOffset<self::HoldTold>,
                {
                    BodyBuilder(::planus::Initialized(value))
                }
            }

            impl<const N: u8, T> BodyBuilder<::planus::Initialized<N, T>> {
                /// Finish writing the builder to get an [UnionOffset](::planus::UnionOffset) to a serialized [Body].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body>
                where
                    Self: ::planus::WriteAsUnion<Body>,
                {
                    ::planus::WriteAsUnion::prepare(&self, builder)
                }
            }

            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<1, T>>
            where
                T: ::planus::WriteAsOffset<self::Opened>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(1, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<1, T>>
            where
                T: ::planus::WriteAsOffset<self::Opened>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<2, T>>
            where
                T: ::planus::WriteAsOffset<self::ClientSeen>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(2, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<2, T>>
            where
                T: ::planus::WriteAsOffset<self::ClientSeen>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<3, T>>
            where
                T: ::planus::WriteAsOffset<self::ClientGone>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(3, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<3, T>>
            where
                T: ::planus::WriteAsOffset<self::ClientGone>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<4, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabMade>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(4, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<4, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabMade>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<5, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabTainted>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(5, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<5, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabTainted>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<6, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabGone>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(6, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<6, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabGone>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<7, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorMade>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(7, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<7, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorMade>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<8, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorPublished>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(8, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<8, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorPublished>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<9, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorDeleted>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(9, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<9, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorDeleted>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<10, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorFreed>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(10, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<10, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorFreed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<11, T>>
            where
                T: ::planus::WriteAsOffset<self::DeviceSeen>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(11, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<11, T>>
            where
                T: ::planus::WriteAsOffset<self::DeviceSeen>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<12, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorAccessed>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(12, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<12, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorAccessed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<13, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionStaged>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(13, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<13, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionStaged>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<14, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionReady>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(14, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<14, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionReady>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<15, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionCurrent>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(15, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<15, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionCurrent>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<16, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionDraining>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(16, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<16, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionDraining>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<17, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionGone>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(17, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<17, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionGone>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<18, T>>
            where
                T: ::planus::WriteAsOffset<self::Renamed>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(18, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<18, T>>
            where
                T: ::planus::WriteAsOffset<self::Renamed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<19, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabBorrowed>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(19, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<19, T>>
            where
                T: ::planus::WriteAsOffset<self::SlabBorrowed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<20, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionBorrowed>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(20, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<20, T>>
            where
                T: ::planus::WriteAsOffset<self::VersionBorrowed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<21, T>>
            where
                T: ::planus::WriteAsOffset<self::HostMade>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(21, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<21, T>>
            where
                T: ::planus::WriteAsOffset<self::HostMade>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<22, T>>
            where
                T: ::planus::WriteAsOffset<self::HostGone>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(22, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<22, T>>
            where
                T: ::planus::WriteAsOffset<self::HostGone>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<23, T>>
            where
                T: ::planus::WriteAsOffset<self::HoldChanged>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(23, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<23, T>>
            where
                T: ::planus::WriteAsOffset<self::HoldChanged>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<Body> for BodyBuilder<::planus::Initialized<24, T>>
            where
                T: ::planus::WriteAsOffset<self::HoldTold>,
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Body> {
                    ::planus::UnionOffset::new(24, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<Body> for BodyBuilder<::planus::Initialized<24, T>>
            where
                T: ::planus::WriteAsOffset<self::HoldTold>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Body>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }

            /// Reference to a deserialized [Body].
            #[derive(Copy, Clone, Debug)]
            pub enum BodyRef<'a> {
                Opened(self::OpenedRef<'a>),
                ClientSeen(self::ClientSeenRef<'a>),
                ClientGone(self::ClientGoneRef<'a>),
                SlabMade(self::SlabMadeRef<'a>),
                SlabTainted(self::SlabTaintedRef<'a>),
                SlabGone(self::SlabGoneRef<'a>),
                TensorMade(self::TensorMadeRef<'a>),
                TensorPublished(self::TensorPublishedRef<'a>),
                TensorDeleted(self::TensorDeletedRef<'a>),
                TensorFreed(self::TensorFreedRef<'a>),
                DeviceSeen(self::DeviceSeenRef<'a>),
                TensorAccessed(self::TensorAccessedRef<'a>),
                VersionStaged(self::VersionStagedRef<'a>),
                VersionReady(self::VersionReadyRef<'a>),
                VersionCurrent(self::VersionCurrentRef<'a>),
                VersionDraining(self::VersionDrainingRef<'a>),
                VersionGone(self::VersionGoneRef<'a>),
                Renamed(self::RenamedRef<'a>),
                SlabBorrowed(self::SlabBorrowedRef<'a>),
                VersionBorrowed(self::VersionBorrowedRef<'a>),
                HostMade(self::HostMadeRef<'a>),
                HostGone(self::HostGoneRef<'a>),
                HoldChanged(self::HoldChangedRef<'a>),
                HoldTold(self::HoldToldRef<'a>),
            }

            impl<'a> ::core::convert::TryFrom<BodyRef<'a>> for Body {
                type Error = ::planus::Error;

                fn try_from(value: BodyRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(match value {
                        BodyRef::Opened(value) => Self::Opened(::planus::alloc::boxed::Box::new(
                            ::core::convert::TryFrom::try_from(value)?,
                        )),

                        BodyRef::ClientSeen(value) => {
                            Self::ClientSeen(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::ClientGone(value) => {
                            Self::ClientGone(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::SlabMade(value) => {
                            Self::SlabMade(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::SlabTainted(value) => {
                            Self::SlabTainted(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::SlabGone(value) => {
                            Self::SlabGone(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::TensorMade(value) => {
                            Self::TensorMade(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::TensorPublished(value) => {
                            Self::TensorPublished(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::TensorDeleted(value) => {
                            Self::TensorDeleted(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::TensorFreed(value) => {
                            Self::TensorFreed(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::DeviceSeen(value) => {
                            Self::DeviceSeen(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::TensorAccessed(value) => {
                            Self::TensorAccessed(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::VersionStaged(value) => {
                            Self::VersionStaged(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::VersionReady(value) => {
                            Self::VersionReady(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::VersionCurrent(value) => {
                            Self::VersionCurrent(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::VersionDraining(value) => {
                            Self::VersionDraining(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::VersionGone(value) => {
                            Self::VersionGone(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::Renamed(value) => Self::Renamed(::planus::alloc::boxed::Box::new(
                            ::core::convert::TryFrom::try_from(value)?,
                        )),

                        BodyRef::SlabBorrowed(value) => {
                            Self::SlabBorrowed(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::VersionBorrowed(value) => {
                            Self::VersionBorrowed(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::HostMade(value) => {
                            Self::HostMade(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::HostGone(value) => {
                            Self::HostGone(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::HoldChanged(value) => {
                            Self::HoldChanged(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        BodyRef::HoldTold(value) => {
                            Self::HoldTold(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }
                    })
                }
            }

            impl<'a> ::planus::TableReadUnion<'a> for BodyRef<'a> {
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    tag: u8,
                    field_offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    match tag {
                        1 => ::core::result::Result::Ok(Self::Opened(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        2 => ::core::result::Result::Ok(Self::ClientSeen(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        3 => ::core::result::Result::Ok(Self::ClientGone(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        4 => ::core::result::Result::Ok(Self::SlabMade(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        5 => ::core::result::Result::Ok(Self::SlabTainted(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        6 => ::core::result::Result::Ok(Self::SlabGone(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        7 => ::core::result::Result::Ok(Self::TensorMade(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        8 => ::core::result::Result::Ok(Self::TensorPublished(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        9 => ::core::result::Result::Ok(Self::TensorDeleted(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        10 => ::core::result::Result::Ok(Self::TensorFreed(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        11 => ::core::result::Result::Ok(Self::DeviceSeen(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        12 => ::core::result::Result::Ok(Self::TensorAccessed(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        13 => ::core::result::Result::Ok(Self::VersionStaged(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        14 => ::core::result::Result::Ok(Self::VersionReady(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        15 => ::core::result::Result::Ok(Self::VersionCurrent(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        16 => ::core::result::Result::Ok(Self::VersionDraining(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        17 => ::core::result::Result::Ok(Self::VersionGone(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        18 => ::core::result::Result::Ok(Self::Renamed(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        19 => ::core::result::Result::Ok(Self::SlabBorrowed(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        20 => ::core::result::Result::Ok(Self::VersionBorrowed(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        21 => ::core::result::Result::Ok(Self::HostMade(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        22 => ::core::result::Result::Ok(Self::HostGone(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        23 => ::core::result::Result::Ok(Self::HoldChanged(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        24 => ::core::result::Result::Ok(Self::HoldTold(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        _ => ::core::result::Result::Err(
                            ::planus::errors::ErrorKind::UnknownUnionTag { tag },
                        ),
                    }
                }
            }

            impl<'a> ::planus::VectorReadUnion<'a> for BodyRef<'a> {
                const VECTOR_NAME: &'static str = "[BodyRef]";
            }

            /// The table `Record` in the namespace `millpond.journal`
            ///
            /// Generated from these locations:
            /// * Table `Record` in the file `schema/journal.fbs:278`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Record {
                /// The field `body` in the table `Record`
                pub body: ::core::option::Option<self::Body>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Record {
                fn default() -> Self {
                    Self {
                        body: ::core::default::Default::default(),
                    }
                }
            }

            impl Record {
                /// Creates a [RecordBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> RecordBuilder<()> {
                    RecordBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_body: impl ::planus::WriteAsOptionalUnion<self::Body>,
                ) -> ::planus::Offset<Self> {
                    let prepared_body = field_body.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_body.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::Body>>(1);
                    }
                    if prepared_body.is_some() {
                        table_writer.write_entry::<u8>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_body) = prepared_body {
                                object_writer.write::<_, _, 4>(&prepared_body.offset());
                            }
                            if let ::core::option::Option::Some(prepared_body) = prepared_body {
                                object_writer.write::<_, _, 1>(&prepared_body.tag());
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Record>> for Record {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Record> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Record>> for Record {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Record>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Record> for Record {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Record> {
                    Record::create(builder, &self.body)
                }
            }

            /// Builder for serializing an instance of the [Record] type.
            ///
            /// Can be created using the [Record::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct RecordBuilder<State>(State);

            impl RecordBuilder<()> {
                /// Setter for the [`body` field](Record#structfield.body).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn body<T0>(self, value: T0) -> RecordBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptionalUnion<self::Body>,
                {
                    RecordBuilder((value,))
                }

                /// Sets the [`body` field](Record#structfield.body) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn body_as_null(self) -> RecordBuilder<((),)> {
                    self.body(())
                }
            }

            impl<T0> RecordBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Record].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Record>
                where
                    Self: ::planus::WriteAsOffset<Record>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptionalUnion<self::Body>>
                ::planus::WriteAs<::planus::Offset<Record>> for RecordBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Record>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Record> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptionalUnion<self::Body>>
                ::planus::WriteAsOptional<::planus::Offset<Record>> for RecordBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Record>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Record>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptionalUnion<self::Body>> ::planus::WriteAsOffset<Record>
                for RecordBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Record> {
                    let (v0,) = &self.0;
                    Record::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Record].
            #[derive(Copy, Clone)]
            pub struct RecordRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> RecordRef<'a> {
                /// Getter for the [`body` field](Record#structfield.body).
                #[inline]
                pub fn body(&self) -> ::planus::Result<::core::option::Option<self::BodyRef<'a>>> {
                    self.0.access_union(0, "Record", "body")
                }
            }

            impl<'a> ::core::fmt::Debug for RecordRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("RecordRef");
                    if let ::core::option::Option::Some(field_body) = self.body().transpose() {
                        f.field("body", &field_body);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<RecordRef<'a>> for Record {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: RecordRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        body: if let ::core::option::Option::Some(body) = value.body()? {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(body)?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for RecordRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    ::core::result::Result::Ok(Self(::planus::table_reader::Table::from_buffer(
                        buffer, offset,
                    )?))
                }
            }

            impl<'a> ::planus::VectorReadInner<'a> for RecordRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[RecordRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Record>> for Record {
                type Value = ::planus::Offset<Record>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Record>],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 4];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (Self::STRIDE * i) as u32,
                        );
                    }
                }
            }

            impl<'a> ::planus::ReadAsRoot<'a> for RecordRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[RecordRef]", "read_as_root", 0)
                    })
                }
            }
        }
    }
}
