// Generated from wire.fbs by scripts/generate. Do not edit.
pub use root::*;

const _: () = ::planus::check_version_compatibility("planus-1.3.0");

/// The root namespace
///
/// Generated from these locations:
/// * File `schema/wire.fbs`
#[no_implicit_prelude]
#[allow(clippy::needless_lifetimes)]
mod root {
    /// The namespace `millpond`
    ///
    /// Generated from these locations:
    /// * File `schema/wire.fbs`
    pub mod millpond {
        /// The namespace `millpond.wire`
        ///
        /// Generated from these locations:
        /// * File `schema/wire.fbs`
        pub mod wire {
            /// The struct `Id` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Struct `Id` in the file `schema/wire.fbs:7`
            #[derive(
                Copy,
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                Default,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
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

            /// The table `Hello` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Hello` in the file `schema/wire.fbs:14`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Hello {
                /// The field `magic` in the table `Hello`
                pub magic: u32,
                /// The field `version` in the table `Hello`
                pub version: u16,
                /// The field `capabilities` in the table `Hello`
                pub capabilities: u64,
                /// The field `client` in the table `Hello`
                pub client: ::core::option::Option<self::Id>,
                /// The field `program` in the table `Hello`
                pub program: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `claims` in the table `Hello`
                pub claims: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Hello {
                fn default() -> Self {
                    Self {
                        magic: 0,
                        version: 0,
                        capabilities: 0,
                        client: ::core::default::Default::default(),
                        program: ::core::default::Default::default(),
                        claims: false,
                    }
                }
            }

            impl Hello {
                /// Creates a [HelloBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> HelloBuilder<()> {
                    HelloBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_magic: impl ::planus::WriteAsDefault<u32, u32>,
                    field_version: impl ::planus::WriteAsDefault<u16, u16>,
                    field_capabilities: impl ::planus::WriteAsDefault<u64, u64>,
                    field_client: impl ::planus::WriteAsOptional<self::Id>,
                    field_program: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_claims: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_magic = field_magic.prepare(builder, &0);
                    let prepared_version = field_version.prepare(builder, &0);
                    let prepared_capabilities = field_capabilities.prepare(builder, &0);
                    let prepared_client = field_client.prepare(builder);
                    let prepared_program = field_program.prepare(builder);
                    let prepared_claims = field_claims.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<16> =
                        ::core::default::Default::default();
                    if prepared_capabilities.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_client.is_some() {
                        table_writer.write_entry::<self::Id>(3);
                    }
                    if prepared_magic.is_some() {
                        table_writer.write_entry::<u32>(0);
                    }
                    if prepared_program.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(4);
                    }
                    if prepared_version.is_some() {
                        table_writer.write_entry::<u16>(1);
                    }
                    if prepared_claims.is_some() {
                        table_writer.write_entry::<bool>(5);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_capabilities) =
                                prepared_capabilities
                            {
                                object_writer.write::<_, _, 8>(&prepared_capabilities);
                            }
                            if let ::core::option::Option::Some(prepared_client) = prepared_client {
                                object_writer.write::<_, _, 16>(&prepared_client);
                            }
                            if let ::core::option::Option::Some(prepared_magic) = prepared_magic {
                                object_writer.write::<_, _, 4>(&prepared_magic);
                            }
                            if let ::core::option::Option::Some(prepared_program) = prepared_program
                            {
                                object_writer.write::<_, _, 4>(&prepared_program);
                            }
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 2>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_claims) = prepared_claims {
                                object_writer.write::<_, _, 1>(&prepared_claims);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Hello>> for Hello {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Hello> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Hello>> for Hello {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Hello>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Hello> for Hello {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Hello> {
                    Hello::create(
                        builder,
                        self.magic,
                        self.version,
                        self.capabilities,
                        self.client,
                        &self.program,
                        self.claims,
                    )
                }
            }

            /// Builder for serializing an instance of the [Hello] type.
            ///
            /// Can be created using the [Hello::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct HelloBuilder<State>(State);

            impl HelloBuilder<()> {
                /// Setter for the [`magic` field](Hello#structfield.magic).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn magic<T0>(self, value: T0) -> HelloBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u32, u32>,
                {
                    HelloBuilder((value,))
                }

                /// Sets the [`magic` field](Hello#structfield.magic) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn magic_as_default(self) -> HelloBuilder<(::planus::DefaultValue,)> {
                    self.magic(::planus::DefaultValue)
                }
            }

            impl<T0> HelloBuilder<(T0,)> {
                /// Setter for the [`version` field](Hello#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T1>(self, value: T1) -> HelloBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u16, u16>,
                {
                    let (v0,) = self.0;
                    HelloBuilder((v0, value))
                }

                /// Sets the [`version` field](Hello#structfield.version) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_default(self) -> HelloBuilder<(T0, ::planus::DefaultValue)> {
                    self.version(::planus::DefaultValue)
                }
            }

            impl<T0, T1> HelloBuilder<(T0, T1)> {
                /// Setter for the [`capabilities` field](Hello#structfield.capabilities).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capabilities<T2>(self, value: T2) -> HelloBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1) = self.0;
                    HelloBuilder((v0, v1, value))
                }

                /// Sets the [`capabilities` field](Hello#structfield.capabilities) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capabilities_as_default(
                    self,
                ) -> HelloBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.capabilities(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> HelloBuilder<(T0, T1, T2)> {
                /// Setter for the [`client` field](Hello#structfield.client).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client<T3>(self, value: T3) -> HelloBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2) = self.0;
                    HelloBuilder((v0, v1, v2, value))
                }

                /// Sets the [`client` field](Hello#structfield.client) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client_as_null(self) -> HelloBuilder<(T0, T1, T2, ())> {
                    self.client(())
                }
            }

            impl<T0, T1, T2, T3> HelloBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`program` field](Hello#structfield.program).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program<T4>(self, value: T4) -> HelloBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    HelloBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`program` field](Hello#structfield.program) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program_as_null(self) -> HelloBuilder<(T0, T1, T2, T3, ())> {
                    self.program(())
                }
            }

            impl<T0, T1, T2, T3, T4> HelloBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`claims` field](Hello#structfield.claims).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn claims<T5>(self, value: T5) -> HelloBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    HelloBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`claims` field](Hello#structfield.claims) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn claims_as_default(
                    self,
                ) -> HelloBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)> {
                    self.claims(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> HelloBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Hello].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Hello>
                where
                    Self: ::planus::WriteAsOffset<Hello>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsDefault<u16, u16>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsOptional<self::Id>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<Hello>>
                for HelloBuilder<(T0, T1, T2, T3, T4, T5)>
            {
                type Prepared = ::planus::Offset<Hello>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Hello> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsDefault<u16, u16>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsOptional<self::Id>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<Hello>>
                for HelloBuilder<(T0, T1, T2, T3, T4, T5)>
            {
                type Prepared = ::planus::Offset<Hello>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Hello>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsDefault<u16, u16>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsOptional<self::Id>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<Hello> for HelloBuilder<(T0, T1, T2, T3, T4, T5)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Hello> {
                    let (v0, v1, v2, v3, v4, v5) = &self.0;
                    Hello::create(builder, v0, v1, v2, v3, v4, v5)
                }
            }

            /// Reference to a deserialized [Hello].
            #[derive(Copy, Clone)]
            pub struct HelloRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> HelloRef<'a> {
                /// Getter for the [`magic` field](Hello#structfield.magic).
                #[inline]
                pub fn magic(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(0, "Hello", "magic")?.unwrap_or(0))
                }

                /// Getter for the [`version` field](Hello#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<u16> {
                    ::core::result::Result::Ok(self.0.access(1, "Hello", "version")?.unwrap_or(0))
                }

                /// Getter for the [`capabilities` field](Hello#structfield.capabilities).
                #[inline]
                pub fn capabilities(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "Hello", "capabilities")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`client` field](Hello#structfield.client).
                #[inline]
                pub fn client(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(3, "Hello", "client")
                }

                /// Getter for the [`program` field](Hello#structfield.program).
                #[inline]
                pub fn program(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(4, "Hello", "program")
                }

                /// Getter for the [`claims` field](Hello#structfield.claims).
                #[inline]
                pub fn claims(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "Hello", "claims")?.unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for HelloRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HelloRef");
                    f.field("magic", &self.magic());
                    f.field("version", &self.version());
                    f.field("capabilities", &self.capabilities());
                    if let ::core::option::Option::Some(field_client) = self.client().transpose() {
                        f.field("client", &field_client);
                    }
                    if let ::core::option::Option::Some(field_program) = self.program().transpose()
                    {
                        f.field("program", &field_program);
                    }
                    f.field("claims", &self.claims());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<HelloRef<'a>> for Hello {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: HelloRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        magic: ::core::convert::TryInto::try_into(value.magic()?)?,
                        version: ::core::convert::TryInto::try_into(value.version()?)?,
                        capabilities: ::core::convert::TryInto::try_into(value.capabilities()?)?,
                        client: value.client()?.map(::core::convert::Into::into),
                        program: value.program()?.map(::core::convert::Into::into),
                        claims: ::core::convert::TryInto::try_into(value.claims()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for HelloRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for HelloRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[HelloRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Hello>> for Hello {
                type Value = ::planus::Offset<Hello>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Hello>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for HelloRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[HelloRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `LeaseClaim` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `LeaseClaim` in the file `schema/wire.fbs:24`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct LeaseClaim {
                /// The field `lease` in the table `LeaseClaim`
                pub lease: u64,
                /// The field `tensor` in the table `LeaseClaim`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `mode` in the table `LeaseClaim`
                pub mode: u8,
                /// The field `token` in the table `LeaseClaim`
                pub token: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for LeaseClaim {
                fn default() -> Self {
                    Self {
                        lease: 0,
                        tensor: ::core::default::Default::default(),
                        mode: 0,
                        token: ::core::default::Default::default(),
                    }
                }
            }

            impl LeaseClaim {
                /// Creates a [LeaseClaimBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> LeaseClaimBuilder<()> {
                    LeaseClaimBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_lease: impl ::planus::WriteAsDefault<u64, u64>,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_mode: impl ::planus::WriteAsDefault<u8, u8>,
                    field_token: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_lease = field_lease.prepare(builder, &0);
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_mode = field_mode.prepare(builder, &0);
                    let prepared_token = field_token.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<12> =
                        ::core::default::Default::default();
                    if prepared_lease.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(3);
                    }
                    if prepared_mode.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_lease) = prepared_lease {
                                object_writer.write::<_, _, 8>(&prepared_lease);
                            }
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 4>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_mode) = prepared_mode {
                                object_writer.write::<_, _, 1>(&prepared_mode);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<LeaseClaim>> for LeaseClaim {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseClaim> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<LeaseClaim>> for LeaseClaim {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<LeaseClaim>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<LeaseClaim> for LeaseClaim {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseClaim> {
                    LeaseClaim::create(builder, self.lease, self.tensor, self.mode, &self.token)
                }
            }

            /// Builder for serializing an instance of the [LeaseClaim] type.
            ///
            /// Can be created using the [LeaseClaim::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct LeaseClaimBuilder<State>(State);

            impl LeaseClaimBuilder<()> {
                /// Setter for the [`lease` field](LeaseClaim#structfield.lease).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease<T0>(self, value: T0) -> LeaseClaimBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    LeaseClaimBuilder((value,))
                }

                /// Sets the [`lease` field](LeaseClaim#structfield.lease) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease_as_default(self) -> LeaseClaimBuilder<(::planus::DefaultValue,)> {
                    self.lease(::planus::DefaultValue)
                }
            }

            impl<T0> LeaseClaimBuilder<(T0,)> {
                /// Setter for the [`tensor` field](LeaseClaim#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T1>(self, value: T1) -> LeaseClaimBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    LeaseClaimBuilder((v0, value))
                }

                /// Sets the [`tensor` field](LeaseClaim#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> LeaseClaimBuilder<(T0, ())> {
                    self.tensor(())
                }
            }

            impl<T0, T1> LeaseClaimBuilder<(T0, T1)> {
                /// Setter for the [`mode` field](LeaseClaim#structfield.mode).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode<T2>(self, value: T2) -> LeaseClaimBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    LeaseClaimBuilder((v0, v1, value))
                }

                /// Sets the [`mode` field](LeaseClaim#structfield.mode) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode_as_default(
                    self,
                ) -> LeaseClaimBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.mode(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> LeaseClaimBuilder<(T0, T1, T2)> {
                /// Setter for the [`token` field](LeaseClaim#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T3>(self, value: T3) -> LeaseClaimBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2) = self.0;
                    LeaseClaimBuilder((v0, v1, v2, value))
                }

                /// Sets the [`token` field](LeaseClaim#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> LeaseClaimBuilder<(T0, T1, T2, ())> {
                    self.token(())
                }
            }

            impl<T0, T1, T2, T3> LeaseClaimBuilder<(T0, T1, T2, T3)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [LeaseClaim].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseClaim>
                where
                    Self: ::planus::WriteAsOffset<LeaseClaim>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAs<::planus::Offset<LeaseClaim>>
                for LeaseClaimBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<LeaseClaim>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseClaim> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAsOptional<::planus::Offset<LeaseClaim>>
                for LeaseClaimBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<LeaseClaim>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<LeaseClaim>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAsOffset<LeaseClaim> for LeaseClaimBuilder<(T0, T1, T2, T3)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseClaim> {
                    let (v0, v1, v2, v3) = &self.0;
                    LeaseClaim::create(builder, v0, v1, v2, v3)
                }
            }

            /// Reference to a deserialized [LeaseClaim].
            #[derive(Copy, Clone)]
            pub struct LeaseClaimRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> LeaseClaimRef<'a> {
                /// Getter for the [`lease` field](LeaseClaim#structfield.lease).
                #[inline]
                pub fn lease(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(0, "LeaseClaim", "lease")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`tensor` field](LeaseClaim#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "LeaseClaim", "tensor")
                }

                /// Getter for the [`mode` field](LeaseClaim#structfield.mode).
                #[inline]
                pub fn mode(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(2, "LeaseClaim", "mode")?.unwrap_or(0))
                }

                /// Getter for the [`token` field](LeaseClaim#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(3, "LeaseClaim", "token")
                }
            }

            impl<'a> ::core::fmt::Debug for LeaseClaimRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("LeaseClaimRef");
                    f.field("lease", &self.lease());
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.field("mode", &self.mode());
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<LeaseClaimRef<'a>> for LeaseClaim {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: LeaseClaimRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        lease: ::core::convert::TryInto::try_into(value.lease()?)?,
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        mode: ::core::convert::TryInto::try_into(value.mode()?)?,
                        token: value.token()?.map(|v| v.to_vec()),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for LeaseClaimRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for LeaseClaimRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[LeaseClaimRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<LeaseClaim>> for LeaseClaim {
                type Value = ::planus::Offset<LeaseClaim>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<LeaseClaim>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for LeaseClaimRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[LeaseClaimRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Claim` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Claim` in the file `schema/wire.fbs:31`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Claim {
                /// The field `leases` in the table `Claim`
                pub leases: ::core::option::Option<::planus::alloc::vec::Vec<self::LeaseClaim>>,
                /// The field `last` in the table `Claim`
                pub last: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Claim {
                fn default() -> Self {
                    Self {
                        leases: ::core::default::Default::default(),
                        last: false,
                    }
                }
            }

            impl Claim {
                /// Creates a [ClaimBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClaimBuilder<()> {
                    ClaimBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_leases: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::LeaseClaim>]>,
                    >,
                    field_last: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_leases = field_leases.prepare(builder);
                    let prepared_last = field_last.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_leases.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::LeaseClaim>]>>(
                                0,
                            );
                    }
                    if prepared_last.is_some() {
                        table_writer.write_entry::<bool>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_leases) = prepared_leases {
                                object_writer.write::<_, _, 4>(&prepared_leases);
                            }
                            if let ::core::option::Option::Some(prepared_last) = prepared_last {
                                object_writer.write::<_, _, 1>(&prepared_last);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Claim>> for Claim {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claim> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Claim>> for Claim {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Claim>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Claim> for Claim {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claim> {
                    Claim::create(builder, &self.leases, self.last)
                }
            }

            /// Builder for serializing an instance of the [Claim] type.
            ///
            /// Can be created using the [Claim::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClaimBuilder<State>(State);

            impl ClaimBuilder<()> {
                /// Setter for the [`leases` field](Claim#structfield.leases).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases<T0>(self, value: T0) -> ClaimBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::LeaseClaim>]>,
                        >,
                {
                    ClaimBuilder((value,))
                }

                /// Sets the [`leases` field](Claim#structfield.leases) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases_as_null(self) -> ClaimBuilder<((),)> {
                    self.leases(())
                }
            }

            impl<T0> ClaimBuilder<(T0,)> {
                /// Setter for the [`last` field](Claim#structfield.last).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn last<T1>(self, value: T1) -> ClaimBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0,) = self.0;
                    ClaimBuilder((v0, value))
                }

                /// Sets the [`last` field](Claim#structfield.last) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn last_as_default(self) -> ClaimBuilder<(T0, ::planus::DefaultValue)> {
                    self.last(::planus::DefaultValue)
                }
            }

            impl<T0, T1> ClaimBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Claim].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claim>
                where
                    Self: ::planus::WriteAsOffset<Claim>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseClaim>]>>,
                T1: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<Claim>> for ClaimBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Claim>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claim> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseClaim>]>>,
                T1: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<Claim>> for ClaimBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Claim>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Claim>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseClaim>]>>,
                T1: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<Claim> for ClaimBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claim> {
                    let (v0, v1) = &self.0;
                    Claim::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [Claim].
            #[derive(Copy, Clone)]
            pub struct ClaimRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClaimRef<'a> {
                /// Getter for the [`leases` field](Claim#structfield.leases).
                #[inline]
                pub fn leases(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::LeaseClaimRef<'a>>>,
                    >,
                > {
                    self.0.access(0, "Claim", "leases")
                }

                /// Getter for the [`last` field](Claim#structfield.last).
                #[inline]
                pub fn last(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(self.0.access(1, "Claim", "last")?.unwrap_or(false))
                }
            }

            impl<'a> ::core::fmt::Debug for ClaimRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClaimRef");
                    if let ::core::option::Option::Some(field_leases) = self.leases().transpose() {
                        f.field("leases", &field_leases);
                    }
                    f.field("last", &self.last());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClaimRef<'a>> for Claim {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ClaimRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        leases: if let ::core::option::Option::Some(leases) = value.leases()? {
                            ::core::option::Option::Some(leases.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        last: ::core::convert::TryInto::try_into(value.last()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClaimRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ClaimRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClaimRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Claim>> for Claim {
                type Value = ::planus::Offset<Claim>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Claim>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ClaimRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClaimRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Goodbye` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Goodbye` in the file `schema/wire.fbs:36`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Goodbye {}

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Goodbye {
                fn default() -> Self {
                    Self {}
                }
            }

            impl Goodbye {
                /// Creates a [GoodbyeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> GoodbyeBuilder<()> {
                    GoodbyeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(builder: &mut ::planus::Builder) -> ::planus::Offset<Self> {
                    let table_writer: ::planus::table_writer::TableWriter<4> =
                        ::core::default::Default::default();
                    unsafe {
                        table_writer.finish(builder, |_table_writer| {});
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Goodbye>> for Goodbye {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Goodbye> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Goodbye>> for Goodbye {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Goodbye>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Goodbye> for Goodbye {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Goodbye> {
                    Goodbye::create(builder)
                }
            }

            /// Builder for serializing an instance of the [Goodbye] type.
            ///
            /// Can be created using the [Goodbye::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct GoodbyeBuilder<State>(State);

            impl GoodbyeBuilder<()> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Goodbye].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Goodbye>
                where
                    Self: ::planus::WriteAsOffset<Goodbye>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Goodbye>> for GoodbyeBuilder<()> {
                type Prepared = ::planus::Offset<Goodbye>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Goodbye> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Goodbye>> for GoodbyeBuilder<()> {
                type Prepared = ::planus::Offset<Goodbye>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Goodbye>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Goodbye> for GoodbyeBuilder<()> {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Goodbye> {
                    Goodbye::create(builder)
                }
            }

            /// Reference to a deserialized [Goodbye].
            #[derive(Copy, Clone)]
            pub struct GoodbyeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> GoodbyeRef<'a> {}

            impl<'a> ::core::fmt::Debug for GoodbyeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("GoodbyeRef");

                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<GoodbyeRef<'a>> for Goodbye {
                type Error = ::planus::Error;

                fn try_from(_value: GoodbyeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {})
                }
            }

            impl<'a> ::planus::TableRead<'a> for GoodbyeRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for GoodbyeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[GoodbyeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Goodbye>> for Goodbye {
                type Value = ::planus::Offset<Goodbye>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Goodbye>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for GoodbyeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[GoodbyeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Ping` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Ping` in the file `schema/wire.fbs:37`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Ping {}

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Ping {
                fn default() -> Self {
                    Self {}
                }
            }

            impl Ping {
                /// Creates a [PingBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> PingBuilder<()> {
                    PingBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(builder: &mut ::planus::Builder) -> ::planus::Offset<Self> {
                    let table_writer: ::planus::table_writer::TableWriter<4> =
                        ::core::default::Default::default();
                    unsafe {
                        table_writer.finish(builder, |_table_writer| {});
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Ping>> for Ping {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Ping> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Ping>> for Ping {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Ping>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Ping> for Ping {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Ping> {
                    Ping::create(builder)
                }
            }

            /// Builder for serializing an instance of the [Ping] type.
            ///
            /// Can be created using the [Ping::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct PingBuilder<State>(State);

            impl PingBuilder<()> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Ping].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Ping>
                where
                    Self: ::planus::WriteAsOffset<Ping>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Ping>> for PingBuilder<()> {
                type Prepared = ::planus::Offset<Ping>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Ping> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Ping>> for PingBuilder<()> {
                type Prepared = ::planus::Offset<Ping>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Ping>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Ping> for PingBuilder<()> {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Ping> {
                    Ping::create(builder)
                }
            }

            /// Reference to a deserialized [Ping].
            #[derive(Copy, Clone)]
            pub struct PingRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> PingRef<'a> {}

            impl<'a> ::core::fmt::Debug for PingRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("PingRef");

                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<PingRef<'a>> for Ping {
                type Error = ::planus::Error;

                fn try_from(_value: PingRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {})
                }
            }

            impl<'a> ::planus::TableRead<'a> for PingRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for PingRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location("[PingRef]", "get", buffer.offset_from_start)
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Ping>> for Ping {
                type Value = ::planus::Offset<Ping>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Ping>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for PingRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[PingRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `PondStatus` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `PondStatus` in the file `schema/wire.fbs:38`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct PondStatus {}

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for PondStatus {
                fn default() -> Self {
                    Self {}
                }
            }

            impl PondStatus {
                /// Creates a [PondStatusBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> PondStatusBuilder<()> {
                    PondStatusBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(builder: &mut ::planus::Builder) -> ::planus::Offset<Self> {
                    let table_writer: ::planus::table_writer::TableWriter<4> =
                        ::core::default::Default::default();
                    unsafe {
                        table_writer.finish(builder, |_table_writer| {});
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<PondStatus>> for PondStatus {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<PondStatus> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<PondStatus>> for PondStatus {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<PondStatus>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<PondStatus> for PondStatus {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<PondStatus> {
                    PondStatus::create(builder)
                }
            }

            /// Builder for serializing an instance of the [PondStatus] type.
            ///
            /// Can be created using the [PondStatus::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct PondStatusBuilder<State>(State);

            impl PondStatusBuilder<()> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [PondStatus].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<PondStatus>
                where
                    Self: ::planus::WriteAsOffset<PondStatus>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl ::planus::WriteAs<::planus::Offset<PondStatus>> for PondStatusBuilder<()> {
                type Prepared = ::planus::Offset<PondStatus>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<PondStatus> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<PondStatus>> for PondStatusBuilder<()> {
                type Prepared = ::planus::Offset<PondStatus>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<PondStatus>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<PondStatus> for PondStatusBuilder<()> {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<PondStatus> {
                    PondStatus::create(builder)
                }
            }

            /// Reference to a deserialized [PondStatus].
            #[derive(Copy, Clone)]
            pub struct PondStatusRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> PondStatusRef<'a> {}

            impl<'a> ::core::fmt::Debug for PondStatusRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("PondStatusRef");

                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<PondStatusRef<'a>> for PondStatus {
                type Error = ::planus::Error;

                fn try_from(_value: PondStatusRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {})
                }
            }

            impl<'a> ::planus::TableRead<'a> for PondStatusRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for PondStatusRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[PondStatusRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<PondStatus>> for PondStatus {
                type Value = ::planus::Offset<PondStatus>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<PondStatus>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for PondStatusRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[PondStatusRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `ClientList` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `ClientList` in the file `schema/wire.fbs:39`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct ClientList {}

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for ClientList {
                fn default() -> Self {
                    Self {}
                }
            }

            impl ClientList {
                /// Creates a [ClientListBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClientListBuilder<()> {
                    ClientListBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(builder: &mut ::planus::Builder) -> ::planus::Offset<Self> {
                    let table_writer: ::planus::table_writer::TableWriter<4> =
                        ::core::default::Default::default();
                    unsafe {
                        table_writer.finish(builder, |_table_writer| {});
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<ClientList>> for ClientList {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientList> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<ClientList>> for ClientList {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientList>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<ClientList> for ClientList {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientList> {
                    ClientList::create(builder)
                }
            }

            /// Builder for serializing an instance of the [ClientList] type.
            ///
            /// Can be created using the [ClientList::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClientListBuilder<State>(State);

            impl ClientListBuilder<()> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [ClientList].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientList>
                where
                    Self: ::planus::WriteAsOffset<ClientList>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl ::planus::WriteAs<::planus::Offset<ClientList>> for ClientListBuilder<()> {
                type Prepared = ::planus::Offset<ClientList>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientList> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<ClientList>> for ClientListBuilder<()> {
                type Prepared = ::planus::Offset<ClientList>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientList>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<ClientList> for ClientListBuilder<()> {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientList> {
                    ClientList::create(builder)
                }
            }

            /// Reference to a deserialized [ClientList].
            #[derive(Copy, Clone)]
            pub struct ClientListRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClientListRef<'a> {}

            impl<'a> ::core::fmt::Debug for ClientListRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClientListRef");

                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClientListRef<'a>> for ClientList {
                type Error = ::planus::Error;

                fn try_from(_value: ClientListRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {})
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClientListRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ClientListRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClientListRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<ClientList>> for ClientList {
                type Value = ::planus::Offset<ClientList>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<ClientList>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ClientListRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClientListRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorCreate` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorCreate` in the file `schema/wire.fbs:41`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorCreate {
                /// The field `tensor` in the table `TensorCreate`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `name` in the table `TensorCreate`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `dtype` in the table `TensorCreate`
                pub dtype: u8,
                /// The field `shape` in the table `TensorCreate`
                pub shape: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
                /// The field `device` in the table `TensorCreate`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `audience` in the table `TensorCreate`
                pub audience: u8,
                /// The field `ephemeral` in the table `TensorCreate`
                pub ephemeral: bool,
                /// The field `zero` in the table `TensorCreate`
                pub zero: bool,
                /// The field `lease` in the table `TensorCreate`
                pub lease: u64,
                /// The field `ttl_ms` in the table `TensorCreate`
                pub ttl_ms: ::core::option::Option<u64>,
                /// The field `linger_ms` in the table `TensorCreate`
                pub linger_ms: ::core::option::Option<u64>,
                /// The field `max_accesses` in the table `TensorCreate`
                pub max_accesses: ::core::option::Option<u64>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorCreate {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        dtype: 0,
                        shape: ::core::default::Default::default(),
                        device: ::core::default::Default::default(),
                        audience: 0,
                        ephemeral: false,
                        zero: false,
                        lease: 0,
                        ttl_ms: ::core::default::Default::default(),
                        linger_ms: ::core::default::Default::default(),
                        max_accesses: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorCreate {
                /// Creates a [TensorCreateBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorCreateBuilder<()> {
                    TensorCreateBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_dtype: impl ::planus::WriteAsDefault<u8, u8>,
                    field_shape: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_audience: impl ::planus::WriteAsDefault<u8, u8>,
                    field_ephemeral: impl ::planus::WriteAsDefault<bool, bool>,
                    field_zero: impl ::planus::WriteAsDefault<bool, bool>,
                    field_lease: impl ::planus::WriteAsDefault<u64, u64>,
                    field_ttl_ms: impl ::planus::WriteAsOptional<u64>,
                    field_linger_ms: impl ::planus::WriteAsOptional<u64>,
                    field_max_accesses: impl ::planus::WriteAsOptional<u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_dtype = field_dtype.prepare(builder, &0);
                    let prepared_shape = field_shape.prepare(builder);
                    let prepared_device = field_device.prepare(builder);
                    let prepared_audience = field_audience.prepare(builder, &0);
                    let prepared_ephemeral = field_ephemeral.prepare(builder, &false);
                    let prepared_zero = field_zero.prepare(builder, &false);
                    let prepared_lease = field_lease.prepare(builder, &0);
                    let prepared_ttl_ms = field_ttl_ms.prepare(builder);
                    let prepared_linger_ms = field_linger_ms.prepare(builder);
                    let prepared_max_accesses = field_max_accesses.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<28> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_lease.is_some() {
                        table_writer.write_entry::<u64>(8);
                    }
                    if prepared_ttl_ms.is_some() {
                        table_writer.write_entry::<u64>(9);
                    }
                    if prepared_linger_ms.is_some() {
                        table_writer.write_entry::<u64>(10);
                    }
                    if prepared_max_accesses.is_some() {
                        table_writer.write_entry::<u64>(11);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_shape.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(3);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(4);
                    }
                    if prepared_dtype.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }
                    if prepared_audience.is_some() {
                        table_writer.write_entry::<u8>(5);
                    }
                    if prepared_ephemeral.is_some() {
                        table_writer.write_entry::<bool>(6);
                    }
                    if prepared_zero.is_some() {
                        table_writer.write_entry::<bool>(7);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_lease) = prepared_lease {
                                object_writer.write::<_, _, 8>(&prepared_lease);
                            }
                            if let ::core::option::Option::Some(prepared_ttl_ms) = prepared_ttl_ms {
                                object_writer.write::<_, _, 8>(&prepared_ttl_ms);
                            }
                            if let ::core::option::Option::Some(prepared_linger_ms) =
                                prepared_linger_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_linger_ms);
                            }
                            if let ::core::option::Option::Some(prepared_max_accesses) =
                                prepared_max_accesses
                            {
                                object_writer.write::<_, _, 8>(&prepared_max_accesses);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_shape) = prepared_shape {
                                object_writer.write::<_, _, 4>(&prepared_shape);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_dtype) = prepared_dtype {
                                object_writer.write::<_, _, 1>(&prepared_dtype);
                            }
                            if let ::core::option::Option::Some(prepared_audience) =
                                prepared_audience
                            {
                                object_writer.write::<_, _, 1>(&prepared_audience);
                            }
                            if let ::core::option::Option::Some(prepared_ephemeral) =
                                prepared_ephemeral
                            {
                                object_writer.write::<_, _, 1>(&prepared_ephemeral);
                            }
                            if let ::core::option::Option::Some(prepared_zero) = prepared_zero {
                                object_writer.write::<_, _, 1>(&prepared_zero);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorCreate>> for TensorCreate {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorCreate> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorCreate>> for TensorCreate {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorCreate>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorCreate> for TensorCreate {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorCreate> {
                    TensorCreate::create(
                        builder,
                        self.tensor,
                        &self.name,
                        self.dtype,
                        &self.shape,
                        &self.device,
                        self.audience,
                        self.ephemeral,
                        self.zero,
                        self.lease,
                        self.ttl_ms,
                        self.linger_ms,
                        self.max_accesses,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorCreate] type.
            ///
            /// Can be created using the [TensorCreate::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorCreateBuilder<State>(State);

            impl TensorCreateBuilder<()> {
                /// Setter for the [`tensor` field](TensorCreate#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorCreateBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorCreateBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorCreate#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorCreateBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorCreateBuilder<(T0,)> {
                /// Setter for the [`name` field](TensorCreate#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T1>(self, value: T1) -> TensorCreateBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    TensorCreateBuilder((v0, value))
                }

                /// Sets the [`name` field](TensorCreate#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorCreateBuilder<(T0, ())> {
                    self.name(())
                }
            }

            impl<T0, T1> TensorCreateBuilder<(T0, T1)> {
                /// Setter for the [`dtype` field](TensorCreate#structfield.dtype).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype<T2>(self, value: T2) -> TensorCreateBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    TensorCreateBuilder((v0, v1, value))
                }

                /// Sets the [`dtype` field](TensorCreate#structfield.dtype) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype_as_default(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.dtype(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> TensorCreateBuilder<(T0, T1, T2)> {
                /// Setter for the [`shape` field](TensorCreate#structfield.shape).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape<T3>(self, value: T3) -> TensorCreateBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorCreateBuilder((v0, v1, v2, value))
                }

                /// Sets the [`shape` field](TensorCreate#structfield.shape) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape_as_null(self) -> TensorCreateBuilder<(T0, T1, T2, ())> {
                    self.shape(())
                }
            }

            impl<T0, T1, T2, T3> TensorCreateBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`device` field](TensorCreate#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T4>(self, value: T4) -> TensorCreateBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`device` field](TensorCreate#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> TensorCreateBuilder<(T0, T1, T2, T3, ())> {
                    self.device(())
                }
            }

            impl<T0, T1, T2, T3, T4> TensorCreateBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`audience` field](TensorCreate#structfield.audience).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience<T5>(
                    self,
                    value: T5,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`audience` field](TensorCreate#structfield.audience) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience_as_default(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.audience(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`ephemeral` field](TensorCreate#structfield.ephemeral).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ephemeral<T6>(
                    self,
                    value: T6,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`ephemeral` field](TensorCreate#structfield.ephemeral) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ephemeral_as_default(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.ephemeral(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`zero` field](TensorCreate#structfield.zero).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn zero<T7>(
                    self,
                    value: T7,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`zero` field](TensorCreate#structfield.zero) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn zero_as_default(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.zero(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`lease` field](TensorCreate#structfield.lease).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease<T8>(
                    self,
                    value: T8,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`lease` field](TensorCreate#structfield.lease) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease_as_default(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.lease(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Setter for the [`ttl_ms` field](TensorCreate#structfield.ttl_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ttl_ms<T9>(
                    self,
                    value: T9,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`ttl_ms` field](TensorCreate#structfield.ttl_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ttl_ms_as_null(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ())> {
                    self.ttl_ms(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`linger_ms` field](TensorCreate#structfield.linger_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn linger_ms<T10>(
                    self,
                    value: T10,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`linger_ms` field](TensorCreate#structfield.linger_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn linger_ms_as_null(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, ())>
                {
                    self.linger_ms(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Setter for the [`max_accesses` field](TensorCreate#structfield.max_accesses).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn max_accesses<T11>(
                    self,
                    value: T11,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
                where
                    T11: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = self.0;
                    TensorCreateBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, value))
                }

                /// Sets the [`max_accesses` field](TensorCreate#structfield.max_accesses) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn max_accesses_as_null(
                    self,
                ) -> TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, ())>
                {
                    self.max_accesses(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11>
                TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorCreate].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorCreate>
                where
                    Self: ::planus::WriteAsOffset<TensorCreate>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T5: ::planus::WriteAsDefault<u8, u8>,
                T6: ::planus::WriteAsDefault<bool, bool>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsOptional<u64>,
                T10: ::planus::WriteAsOptional<u64>,
                T11: ::planus::WriteAsOptional<u64>,
            > ::planus::WriteAs<::planus::Offset<TensorCreate>>
                for TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                type Prepared = ::planus::Offset<TensorCreate>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorCreate> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T5: ::planus::WriteAsDefault<u8, u8>,
                T6: ::planus::WriteAsDefault<bool, bool>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsOptional<u64>,
                T10: ::planus::WriteAsOptional<u64>,
                T11: ::planus::WriteAsOptional<u64>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorCreate>>
                for TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                type Prepared = ::planus::Offset<TensorCreate>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorCreate>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T5: ::planus::WriteAsDefault<u8, u8>,
                T6: ::planus::WriteAsDefault<bool, bool>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsOptional<u64>,
                T10: ::planus::WriteAsOptional<u64>,
                T11: ::planus::WriteAsOptional<u64>,
            > ::planus::WriteAsOffset<TensorCreate>
                for TensorCreateBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorCreate> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) = &self.0;
                    TensorCreate::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11)
                }
            }

            /// Reference to a deserialized [TensorCreate].
            #[derive(Copy, Clone)]
            pub struct TensorCreateRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorCreateRef<'a> {
                /// Getter for the [`tensor` field](TensorCreate#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorCreate", "tensor")
                }

                /// Getter for the [`name` field](TensorCreate#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "TensorCreate", "name")
                }

                /// Getter for the [`dtype` field](TensorCreate#structfield.dtype).
                #[inline]
                pub fn dtype(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "TensorCreate", "dtype")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`shape` field](TensorCreate#structfield.shape).
                #[inline]
                pub fn shape(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(3, "TensorCreate", "shape")
                }

                /// Getter for the [`device` field](TensorCreate#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(4, "TensorCreate", "device")
                }

                /// Getter for the [`audience` field](TensorCreate#structfield.audience).
                #[inline]
                pub fn audience(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "TensorCreate", "audience")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ephemeral` field](TensorCreate#structfield.ephemeral).
                #[inline]
                pub fn ephemeral(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(6, "TensorCreate", "ephemeral")?
                            .unwrap_or(false),
                    )
                }

                /// Getter for the [`zero` field](TensorCreate#structfield.zero).
                #[inline]
                pub fn zero(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "TensorCreate", "zero")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`lease` field](TensorCreate#structfield.lease).
                #[inline]
                pub fn lease(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(8, "TensorCreate", "lease")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ttl_ms` field](TensorCreate#structfield.ttl_ms).
                #[inline]
                pub fn ttl_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(9, "TensorCreate", "ttl_ms")
                }

                /// Getter for the [`linger_ms` field](TensorCreate#structfield.linger_ms).
                #[inline]
                pub fn linger_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(10, "TensorCreate", "linger_ms")
                }

                /// Getter for the [`max_accesses` field](TensorCreate#structfield.max_accesses).
                #[inline]
                pub fn max_accesses(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(11, "TensorCreate", "max_accesses")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorCreateRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorCreateRef");
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
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    f.field("audience", &self.audience());
                    f.field("ephemeral", &self.ephemeral());
                    f.field("zero", &self.zero());
                    f.field("lease", &self.lease());
                    if let ::core::option::Option::Some(field_ttl_ms) = self.ttl_ms().transpose() {
                        f.field("ttl_ms", &field_ttl_ms);
                    }
                    if let ::core::option::Option::Some(field_linger_ms) =
                        self.linger_ms().transpose()
                    {
                        f.field("linger_ms", &field_linger_ms);
                    }
                    if let ::core::option::Option::Some(field_max_accesses) =
                        self.max_accesses().transpose()
                    {
                        f.field("max_accesses", &field_max_accesses);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorCreateRef<'a>> for TensorCreate {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorCreateRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        dtype: ::core::convert::TryInto::try_into(value.dtype()?)?,
                        shape: if let ::core::option::Option::Some(shape) = value.shape()? {
                            ::core::option::Option::Some(shape.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        device: value.device()?.map(|v| v.to_vec()),
                        audience: ::core::convert::TryInto::try_into(value.audience()?)?,
                        ephemeral: ::core::convert::TryInto::try_into(value.ephemeral()?)?,
                        zero: ::core::convert::TryInto::try_into(value.zero()?)?,
                        lease: ::core::convert::TryInto::try_into(value.lease()?)?,
                        ttl_ms: if let ::core::option::Option::Some(ttl_ms) = value.ttl_ms()? {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                ttl_ms,
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
                        max_accesses: if let ::core::option::Option::Some(max_accesses) =
                            value.max_accesses()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                max_accesses,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorCreateRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorCreateRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorCreateRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorCreate>> for TensorCreate {
                type Value = ::planus::Offset<TensorCreate>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorCreate>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorCreateRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorCreateRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorGet` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorGet` in the file `schema/wire.fbs:61`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorGet {
                /// The field `name` in the table `TensorGet`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `tensor` in the table `TensorGet`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `lease` in the table `TensorGet`
                pub lease: u64,
                /// The field `mode` in the table `TensorGet`
                pub mode: u8,
                /// The field `wait_ms` in the table `TensorGet`
                pub wait_ms: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorGet {
                fn default() -> Self {
                    Self {
                        name: ::core::default::Default::default(),
                        tensor: ::core::default::Default::default(),
                        lease: 0,
                        mode: 0,
                        wait_ms: 0,
                    }
                }
            }

            impl TensorGet {
                /// Creates a [TensorGetBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorGetBuilder<()> {
                    TensorGetBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_lease: impl ::planus::WriteAsDefault<u64, u64>,
                    field_mode: impl ::planus::WriteAsDefault<u8, u8>,
                    field_wait_ms: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_name = field_name.prepare(builder);
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_lease = field_lease.prepare(builder, &0);
                    let prepared_mode = field_mode.prepare(builder, &0);
                    let prepared_wait_ms = field_wait_ms.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<14> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_lease.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_wait_ms.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }
                    if prepared_mode.is_some() {
                        table_writer.write_entry::<u8>(3);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_lease) = prepared_lease {
                                object_writer.write::<_, _, 8>(&prepared_lease);
                            }
                            if let ::core::option::Option::Some(prepared_wait_ms) = prepared_wait_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_wait_ms);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_mode) = prepared_mode {
                                object_writer.write::<_, _, 1>(&prepared_mode);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorGet>> for TensorGet {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorGet> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorGet>> for TensorGet {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorGet>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorGet> for TensorGet {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorGet> {
                    TensorGet::create(
                        builder,
                        &self.name,
                        self.tensor,
                        self.lease,
                        self.mode,
                        self.wait_ms,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorGet] type.
            ///
            /// Can be created using the [TensorGet::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorGetBuilder<State>(State);

            impl TensorGetBuilder<()> {
                /// Setter for the [`name` field](TensorGet#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T0>(self, value: T0) -> TensorGetBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    TensorGetBuilder((value,))
                }

                /// Sets the [`name` field](TensorGet#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorGetBuilder<((),)> {
                    self.name(())
                }
            }

            impl<T0> TensorGetBuilder<(T0,)> {
                /// Setter for the [`tensor` field](TensorGet#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T1>(self, value: T1) -> TensorGetBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    TensorGetBuilder((v0, value))
                }

                /// Sets the [`tensor` field](TensorGet#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorGetBuilder<(T0, ())> {
                    self.tensor(())
                }
            }

            impl<T0, T1> TensorGetBuilder<(T0, T1)> {
                /// Setter for the [`lease` field](TensorGet#structfield.lease).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease<T2>(self, value: T2) -> TensorGetBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1) = self.0;
                    TensorGetBuilder((v0, v1, value))
                }

                /// Sets the [`lease` field](TensorGet#structfield.lease) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease_as_default(
                    self,
                ) -> TensorGetBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.lease(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> TensorGetBuilder<(T0, T1, T2)> {
                /// Setter for the [`mode` field](TensorGet#structfield.mode).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode<T3>(self, value: T3) -> TensorGetBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorGetBuilder((v0, v1, v2, value))
                }

                /// Sets the [`mode` field](TensorGet#structfield.mode) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode_as_default(
                    self,
                ) -> TensorGetBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.mode(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> TensorGetBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`wait_ms` field](TensorGet#structfield.wait_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn wait_ms<T4>(self, value: T4) -> TensorGetBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorGetBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`wait_ms` field](TensorGet#structfield.wait_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn wait_ms_as_default(
                    self,
                ) -> TensorGetBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.wait_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> TensorGetBuilder<(T0, T1, T2, T3, T4)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorGet].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorGet>
                where
                    Self: ::planus::WriteAsOffset<TensorGet>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u8, u8>,
                T4: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<TensorGet>>
                for TensorGetBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<TensorGet>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorGet> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u8, u8>,
                T4: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorGet>>
                for TensorGetBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<TensorGet>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorGet>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u8, u8>,
                T4: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<TensorGet> for TensorGetBuilder<(T0, T1, T2, T3, T4)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorGet> {
                    let (v0, v1, v2, v3, v4) = &self.0;
                    TensorGet::create(builder, v0, v1, v2, v3, v4)
                }
            }

            /// Reference to a deserialized [TensorGet].
            #[derive(Copy, Clone)]
            pub struct TensorGetRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorGetRef<'a> {
                /// Getter for the [`name` field](TensorGet#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "TensorGet", "name")
                }

                /// Getter for the [`tensor` field](TensorGet#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "TensorGet", "tensor")
                }

                /// Getter for the [`lease` field](TensorGet#structfield.lease).
                #[inline]
                pub fn lease(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(2, "TensorGet", "lease")?.unwrap_or(0))
                }

                /// Getter for the [`mode` field](TensorGet#structfield.mode).
                #[inline]
                pub fn mode(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(3, "TensorGet", "mode")?.unwrap_or(0))
                }

                /// Getter for the [`wait_ms` field](TensorGet#structfield.wait_ms).
                #[inline]
                pub fn wait_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "TensorGet", "wait_ms")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for TensorGetRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorGetRef");
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.field("lease", &self.lease());
                    f.field("mode", &self.mode());
                    f.field("wait_ms", &self.wait_ms());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorGetRef<'a>> for TensorGet {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorGetRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        name: value.name()?.map(::core::convert::Into::into),
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        lease: ::core::convert::TryInto::try_into(value.lease()?)?,
                        mode: ::core::convert::TryInto::try_into(value.mode()?)?,
                        wait_ms: ::core::convert::TryInto::try_into(value.wait_ms()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorGetRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorGetRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorGetRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorGet>> for TensorGet {
                type Value = ::planus::Offset<TensorGet>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorGet>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorGetRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorGetRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorPublish` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorPublish` in the file `schema/wire.fbs:69`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorPublish {
                /// The field `tensor` in the table `TensorPublish`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `token` in the table `TensorPublish`
                pub token: ::core::option::Option<self::Id>,
                /// The field `name` in the table `TensorPublish`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `replace` in the table `TensorPublish`
                pub replace: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorPublish {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        token: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        replace: false,
                    }
                }
            }

            impl TensorPublish {
                /// Creates a [TensorPublishBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorPublishBuilder<()> {
                    TensorPublishBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_replace: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_token = field_token.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_replace = field_replace.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<12> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }
                    if prepared_replace.is_some() {
                        table_writer.write_entry::<bool>(3);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_replace) = prepared_replace
                            {
                                object_writer.write::<_, _, 1>(&prepared_replace);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorPublish>> for TensorPublish {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublish> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorPublish>> for TensorPublish {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorPublish>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorPublish> for TensorPublish {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublish> {
                    TensorPublish::create(
                        builder,
                        self.tensor,
                        self.token,
                        &self.name,
                        self.replace,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorPublish] type.
            ///
            /// Can be created using the [TensorPublish::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorPublishBuilder<State>(State);

            impl TensorPublishBuilder<()> {
                /// Setter for the [`tensor` field](TensorPublish#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorPublishBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorPublishBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorPublish#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorPublishBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorPublishBuilder<(T0,)> {
                /// Setter for the [`token` field](TensorPublish#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T1>(self, value: T1) -> TensorPublishBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    TensorPublishBuilder((v0, value))
                }

                /// Sets the [`token` field](TensorPublish#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> TensorPublishBuilder<(T0, ())> {
                    self.token(())
                }
            }

            impl<T0, T1> TensorPublishBuilder<(T0, T1)> {
                /// Setter for the [`name` field](TensorPublish#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T2>(self, value: T2) -> TensorPublishBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    TensorPublishBuilder((v0, v1, value))
                }

                /// Sets the [`name` field](TensorPublish#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorPublishBuilder<(T0, T1, ())> {
                    self.name(())
                }
            }

            impl<T0, T1, T2> TensorPublishBuilder<(T0, T1, T2)> {
                /// Setter for the [`replace` field](TensorPublish#structfield.replace).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn replace<T3>(self, value: T3) -> TensorPublishBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorPublishBuilder((v0, v1, v2, value))
                }

                /// Sets the [`replace` field](TensorPublish#structfield.replace) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn replace_as_default(
                    self,
                ) -> TensorPublishBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.replace(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> TensorPublishBuilder<(T0, T1, T2, T3)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorPublish].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublish>
                where
                    Self: ::planus::WriteAsOffset<TensorPublish>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<TensorPublish>>
                for TensorPublishBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<TensorPublish>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublish> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorPublish>>
                for TensorPublishBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<TensorPublish>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorPublish>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<self::Id>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<TensorPublish> for TensorPublishBuilder<(T0, T1, T2, T3)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorPublish> {
                    let (v0, v1, v2, v3) = &self.0;
                    TensorPublish::create(builder, v0, v1, v2, v3)
                }
            }

            /// Reference to a deserialized [TensorPublish].
            #[derive(Copy, Clone)]
            pub struct TensorPublishRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorPublishRef<'a> {
                /// Getter for the [`tensor` field](TensorPublish#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorPublish", "tensor")
                }

                /// Getter for the [`token` field](TensorPublish#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "TensorPublish", "token")
                }

                /// Getter for the [`name` field](TensorPublish#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "TensorPublish", "name")
                }

                /// Getter for the [`replace` field](TensorPublish#structfield.replace).
                #[inline]
                pub fn replace(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(3, "TensorPublish", "replace")?
                            .unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for TensorPublishRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorPublishRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("replace", &self.replace());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorPublishRef<'a>> for TensorPublish {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorPublishRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        token: value.token()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        replace: ::core::convert::TryInto::try_into(value.replace()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorPublishRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorPublishRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorPublishRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorPublish>> for TensorPublish {
                type Value = ::planus::Offset<TensorPublish>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorPublish>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorPublishRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorPublishRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorMove` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorMove` in the file `schema/wire.fbs:81`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorMove {
                /// The field `token` in the table `TensorMove`
                pub token: ::core::option::Option<self::Id>,
                /// The field `kind` in the table `TensorMove`
                pub kind: u8,
                /// The field `tensor` in the table `TensorMove`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `offset` in the table `TensorMove`
                pub offset: u64,
                /// The field `bytes` in the table `TensorMove`
                pub bytes: u64,
                /// The field `file_offset` in the table `TensorMove`
                pub file_offset: u64,
                /// The field `from` in the table `TensorMove`
                pub from: ::core::option::Option<self::Id>,
                /// The field `from_offset` in the table `TensorMove`
                pub from_offset: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorMove {
                fn default() -> Self {
                    Self {
                        token: ::core::default::Default::default(),
                        kind: 0,
                        tensor: ::core::default::Default::default(),
                        offset: 0,
                        bytes: 0,
                        file_offset: 0,
                        from: ::core::default::Default::default(),
                        from_offset: 0,
                    }
                }
            }

            impl TensorMove {
                /// Creates a [TensorMoveBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorMoveBuilder<()> {
                    TensorMoveBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_token: impl ::planus::WriteAsOptional<self::Id>,
                    field_kind: impl ::planus::WriteAsDefault<u8, u8>,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_offset: impl ::planus::WriteAsDefault<u64, u64>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_file_offset: impl ::planus::WriteAsDefault<u64, u64>,
                    field_from: impl ::planus::WriteAsOptional<self::Id>,
                    field_from_offset: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_token = field_token.prepare(builder);
                    let prepared_kind = field_kind.prepare(builder, &0);
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_offset = field_offset.prepare(builder, &0);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_file_offset = field_file_offset.prepare(builder, &0);
                    let prepared_from = field_from.prepare(builder);
                    let prepared_from_offset = field_from_offset.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<20> =
                        ::core::default::Default::default();
                    if prepared_token.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(2);
                    }
                    if prepared_offset.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_file_offset.is_some() {
                        table_writer.write_entry::<u64>(5);
                    }
                    if prepared_from.is_some() {
                        table_writer.write_entry::<self::Id>(6);
                    }
                    if prepared_from_offset.is_some() {
                        table_writer.write_entry::<u64>(7);
                    }
                    if prepared_kind.is_some() {
                        table_writer.write_entry::<u8>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 16>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_offset) = prepared_offset {
                                object_writer.write::<_, _, 8>(&prepared_offset);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_file_offset) =
                                prepared_file_offset
                            {
                                object_writer.write::<_, _, 8>(&prepared_file_offset);
                            }
                            if let ::core::option::Option::Some(prepared_from) = prepared_from {
                                object_writer.write::<_, _, 16>(&prepared_from);
                            }
                            if let ::core::option::Option::Some(prepared_from_offset) =
                                prepared_from_offset
                            {
                                object_writer.write::<_, _, 8>(&prepared_from_offset);
                            }
                            if let ::core::option::Option::Some(prepared_kind) = prepared_kind {
                                object_writer.write::<_, _, 1>(&prepared_kind);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorMove>> for TensorMove {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMove> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorMove>> for TensorMove {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorMove>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorMove> for TensorMove {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMove> {
                    TensorMove::create(
                        builder,
                        self.token,
                        self.kind,
                        self.tensor,
                        self.offset,
                        self.bytes,
                        self.file_offset,
                        self.from,
                        self.from_offset,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorMove] type.
            ///
            /// Can be created using the [TensorMove::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorMoveBuilder<State>(State);

            impl TensorMoveBuilder<()> {
                /// Setter for the [`token` field](TensorMove#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T0>(self, value: T0) -> TensorMoveBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorMoveBuilder((value,))
                }

                /// Sets the [`token` field](TensorMove#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> TensorMoveBuilder<((),)> {
                    self.token(())
                }
            }

            impl<T0> TensorMoveBuilder<(T0,)> {
                /// Setter for the [`kind` field](TensorMove#structfield.kind).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn kind<T1>(self, value: T1) -> TensorMoveBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0,) = self.0;
                    TensorMoveBuilder((v0, value))
                }

                /// Sets the [`kind` field](TensorMove#structfield.kind) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn kind_as_default(self) -> TensorMoveBuilder<(T0, ::planus::DefaultValue)> {
                    self.kind(::planus::DefaultValue)
                }
            }

            impl<T0, T1> TensorMoveBuilder<(T0, T1)> {
                /// Setter for the [`tensor` field](TensorMove#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T2>(self, value: T2) -> TensorMoveBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1) = self.0;
                    TensorMoveBuilder((v0, v1, value))
                }

                /// Sets the [`tensor` field](TensorMove#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorMoveBuilder<(T0, T1, ())> {
                    self.tensor(())
                }
            }

            impl<T0, T1, T2> TensorMoveBuilder<(T0, T1, T2)> {
                /// Setter for the [`offset` field](TensorMove#structfield.offset).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset<T3>(self, value: T3) -> TensorMoveBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorMoveBuilder((v0, v1, v2, value))
                }

                /// Sets the [`offset` field](TensorMove#structfield.offset) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset_as_default(
                    self,
                ) -> TensorMoveBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.offset(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> TensorMoveBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`bytes` field](TensorMove#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T4>(self, value: T4) -> TensorMoveBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorMoveBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`bytes` field](TensorMove#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(
                    self,
                ) -> TensorMoveBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> TensorMoveBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`file_offset` field](TensorMove#structfield.file_offset).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn file_offset<T5>(
                    self,
                    value: T5,
                ) -> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    TensorMoveBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`file_offset` field](TensorMove#structfield.file_offset) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn file_offset_as_default(
                    self,
                ) -> TensorMoveBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.file_offset(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`from` field](TensorMove#structfield.from).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from<T6>(self, value: T6) -> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    TensorMoveBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`from` field](TensorMove#structfield.from) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_as_null(self) -> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.from(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`from_offset` field](TensorMove#structfield.from_offset).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_offset<T7>(
                    self,
                    value: T7,
                ) -> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    TensorMoveBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`from_offset` field](TensorMove#structfield.from_offset) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_offset_as_default(
                    self,
                ) -> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.from_offset(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorMove].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMove>
                where
                    Self: ::planus::WriteAsOffset<TensorMove>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u8, u8>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<self::Id>,
                T7: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<TensorMove>>
                for TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<TensorMove>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMove> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u8, u8>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<self::Id>,
                T7: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorMove>>
                for TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<TensorMove>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorMove>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u8, u8>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<self::Id>,
                T7: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<TensorMove>
                for TensorMoveBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorMove> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = &self.0;
                    TensorMove::create(builder, v0, v1, v2, v3, v4, v5, v6, v7)
                }
            }

            /// Reference to a deserialized [TensorMove].
            #[derive(Copy, Clone)]
            pub struct TensorMoveRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorMoveRef<'a> {
                /// Getter for the [`token` field](TensorMove#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorMove", "token")
                }

                /// Getter for the [`kind` field](TensorMove#structfield.kind).
                #[inline]
                pub fn kind(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(1, "TensorMove", "kind")?.unwrap_or(0))
                }

                /// Getter for the [`tensor` field](TensorMove#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(2, "TensorMove", "tensor")
                }

                /// Getter for the [`offset` field](TensorMove#structfield.offset).
                #[inline]
                pub fn offset(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "TensorMove", "offset")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`bytes` field](TensorMove#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "TensorMove", "bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`file_offset` field](TensorMove#structfield.file_offset).
                #[inline]
                pub fn file_offset(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "TensorMove", "file_offset")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`from` field](TensorMove#structfield.from).
                #[inline]
                pub fn from(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(6, "TensorMove", "from")
                }

                /// Getter for the [`from_offset` field](TensorMove#structfield.from_offset).
                #[inline]
                pub fn from_offset(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "TensorMove", "from_offset")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for TensorMoveRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorMoveRef");
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    f.field("kind", &self.kind());
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.field("offset", &self.offset());
                    f.field("bytes", &self.bytes());
                    f.field("file_offset", &self.file_offset());
                    if let ::core::option::Option::Some(field_from) = self.from().transpose() {
                        f.field("from", &field_from);
                    }
                    f.field("from_offset", &self.from_offset());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorMoveRef<'a>> for TensorMove {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorMoveRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        token: value.token()?.map(::core::convert::Into::into),
                        kind: ::core::convert::TryInto::try_into(value.kind()?)?,
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        offset: ::core::convert::TryInto::try_into(value.offset()?)?,
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        file_offset: ::core::convert::TryInto::try_into(value.file_offset()?)?,
                        from: value.from()?.map(::core::convert::Into::into),
                        from_offset: ::core::convert::TryInto::try_into(value.from_offset()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorMoveRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorMoveRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorMoveRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorMove>> for TensorMove {
                type Value = ::planus::Offset<TensorMove>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorMove>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorMoveRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorMoveRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Collect` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Collect` in the file `schema/wire.fbs:95`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Collect {
                /// The field `unleased_for_ms` in the table `Collect`
                pub unleased_for_ms: ::core::option::Option<u64>,
                /// The field `dry_run` in the table `Collect`
                pub dry_run: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Collect {
                fn default() -> Self {
                    Self {
                        unleased_for_ms: ::core::default::Default::default(),
                        dry_run: false,
                    }
                }
            }

            impl Collect {
                /// Creates a [CollectBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> CollectBuilder<()> {
                    CollectBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_unleased_for_ms: impl ::planus::WriteAsOptional<u64>,
                    field_dry_run: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_unleased_for_ms = field_unleased_for_ms.prepare(builder);
                    let prepared_dry_run = field_dry_run.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_unleased_for_ms.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }
                    if prepared_dry_run.is_some() {
                        table_writer.write_entry::<bool>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_unleased_for_ms) =
                                prepared_unleased_for_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_unleased_for_ms);
                            }
                            if let ::core::option::Option::Some(prepared_dry_run) = prepared_dry_run
                            {
                                object_writer.write::<_, _, 1>(&prepared_dry_run);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Collect>> for Collect {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collect> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Collect>> for Collect {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Collect>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Collect> for Collect {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collect> {
                    Collect::create(builder, self.unleased_for_ms, self.dry_run)
                }
            }

            /// Builder for serializing an instance of the [Collect] type.
            ///
            /// Can be created using the [Collect::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct CollectBuilder<State>(State);

            impl CollectBuilder<()> {
                /// Setter for the [`unleased_for_ms` field](Collect#structfield.unleased_for_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn unleased_for_ms<T0>(self, value: T0) -> CollectBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<u64>,
                {
                    CollectBuilder((value,))
                }

                /// Sets the [`unleased_for_ms` field](Collect#structfield.unleased_for_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn unleased_for_ms_as_null(self) -> CollectBuilder<((),)> {
                    self.unleased_for_ms(())
                }
            }

            impl<T0> CollectBuilder<(T0,)> {
                /// Setter for the [`dry_run` field](Collect#structfield.dry_run).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dry_run<T1>(self, value: T1) -> CollectBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0,) = self.0;
                    CollectBuilder((v0, value))
                }

                /// Sets the [`dry_run` field](Collect#structfield.dry_run) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dry_run_as_default(self) -> CollectBuilder<(T0, ::planus::DefaultValue)> {
                    self.dry_run(::planus::DefaultValue)
                }
            }

            impl<T0, T1> CollectBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Collect].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collect>
                where
                    Self: ::planus::WriteAsOffset<Collect>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<u64>, T1: ::planus::WriteAsDefault<bool, bool>>
                ::planus::WriteAs<::planus::Offset<Collect>> for CollectBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Collect>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collect> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<u64>, T1: ::planus::WriteAsDefault<bool, bool>>
                ::planus::WriteAsOptional<::planus::Offset<Collect>> for CollectBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Collect>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Collect>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<u64>, T1: ::planus::WriteAsDefault<bool, bool>>
                ::planus::WriteAsOffset<Collect> for CollectBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collect> {
                    let (v0, v1) = &self.0;
                    Collect::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [Collect].
            #[derive(Copy, Clone)]
            pub struct CollectRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> CollectRef<'a> {
                /// Getter for the [`unleased_for_ms` field](Collect#structfield.unleased_for_ms).
                #[inline]
                pub fn unleased_for_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(0, "Collect", "unleased_for_ms")
                }

                /// Getter for the [`dry_run` field](Collect#structfield.dry_run).
                #[inline]
                pub fn dry_run(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "Collect", "dry_run")?.unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for CollectRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("CollectRef");
                    if let ::core::option::Option::Some(field_unleased_for_ms) =
                        self.unleased_for_ms().transpose()
                    {
                        f.field("unleased_for_ms", &field_unleased_for_ms);
                    }
                    f.field("dry_run", &self.dry_run());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<CollectRef<'a>> for Collect {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: CollectRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        unleased_for_ms: if let ::core::option::Option::Some(unleased_for_ms) =
                            value.unleased_for_ms()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                unleased_for_ms,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        dry_run: ::core::convert::TryInto::try_into(value.dry_run()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for CollectRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for CollectRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[CollectRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Collect>> for Collect {
                type Value = ::planus::Offset<Collect>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Collect>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for CollectRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[CollectRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Upgrade` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Upgrade` in the file `schema/wire.fbs:101`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Upgrade {
                /// The field `program` in the table `Upgrade`
                pub program: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Upgrade {
                fn default() -> Self {
                    Self {
                        program: ::core::default::Default::default(),
                    }
                }
            }

            impl Upgrade {
                /// Creates a [UpgradeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> UpgradeBuilder<()> {
                    UpgradeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_program: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_program = field_program.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_program.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_program) = prepared_program
                            {
                                object_writer.write::<_, _, 4>(&prepared_program);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Upgrade>> for Upgrade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Upgrade>> for Upgrade {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Upgrade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Upgrade> for Upgrade {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrade> {
                    Upgrade::create(builder, &self.program)
                }
            }

            /// Builder for serializing an instance of the [Upgrade] type.
            ///
            /// Can be created using the [Upgrade::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct UpgradeBuilder<State>(State);

            impl UpgradeBuilder<()> {
                /// Setter for the [`program` field](Upgrade#structfield.program).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program<T0>(self, value: T0) -> UpgradeBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    UpgradeBuilder((value,))
                }

                /// Sets the [`program` field](Upgrade#structfield.program) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program_as_null(self) -> UpgradeBuilder<((),)> {
                    self.program(())
                }
            }

            impl<T0> UpgradeBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Upgrade].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrade>
                where
                    Self: ::planus::WriteAsOffset<Upgrade>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>>
                ::planus::WriteAs<::planus::Offset<Upgrade>> for UpgradeBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Upgrade>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrade> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>>
                ::planus::WriteAsOptional<::planus::Offset<Upgrade>> for UpgradeBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Upgrade>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Upgrade>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>>
                ::planus::WriteAsOffset<Upgrade> for UpgradeBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrade> {
                    let (v0,) = &self.0;
                    Upgrade::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Upgrade].
            #[derive(Copy, Clone)]
            pub struct UpgradeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> UpgradeRef<'a> {
                /// Getter for the [`program` field](Upgrade#structfield.program).
                #[inline]
                pub fn program(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "Upgrade", "program")
                }
            }

            impl<'a> ::core::fmt::Debug for UpgradeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("UpgradeRef");
                    if let ::core::option::Option::Some(field_program) = self.program().transpose()
                    {
                        f.field("program", &field_program);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<UpgradeRef<'a>> for Upgrade {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: UpgradeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        program: value.program()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for UpgradeRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for UpgradeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[UpgradeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Upgrade>> for Upgrade {
                type Value = ::planus::Offset<Upgrade>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Upgrade>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for UpgradeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[UpgradeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorDelete` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorDelete` in the file `schema/wire.fbs:105`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorDelete {
                /// The field `tensor` in the table `TensorDelete`
                pub tensor: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorDelete {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorDelete {
                /// Creates a [TensorDeleteBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorDeleteBuilder<()> {
                    TensorDeleteBuilder(())
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

            impl ::planus::WriteAs<::planus::Offset<TensorDelete>> for TensorDelete {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDelete> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorDelete>> for TensorDelete {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorDelete>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorDelete> for TensorDelete {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDelete> {
                    TensorDelete::create(builder, self.tensor)
                }
            }

            /// Builder for serializing an instance of the [TensorDelete] type.
            ///
            /// Can be created using the [TensorDelete::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorDeleteBuilder<State>(State);

            impl TensorDeleteBuilder<()> {
                /// Setter for the [`tensor` field](TensorDelete#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorDeleteBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorDeleteBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorDelete#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorDeleteBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorDeleteBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorDelete].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDelete>
                where
                    Self: ::planus::WriteAsOffset<TensorDelete>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAs<::planus::Offset<TensorDelete>> for TensorDeleteBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorDelete>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDelete> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>>
                ::planus::WriteAsOptional<::planus::Offset<TensorDelete>>
                for TensorDeleteBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorDelete>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorDelete>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<self::Id>> ::planus::WriteAsOffset<TensorDelete>
                for TensorDeleteBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDelete> {
                    let (v0,) = &self.0;
                    TensorDelete::create(builder, v0)
                }
            }

            /// Reference to a deserialized [TensorDelete].
            #[derive(Copy, Clone)]
            pub struct TensorDeleteRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorDeleteRef<'a> {
                /// Getter for the [`tensor` field](TensorDelete#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorDelete", "tensor")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorDeleteRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorDeleteRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorDeleteRef<'a>> for TensorDelete {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorDeleteRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorDeleteRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorDeleteRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorDeleteRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorDelete>> for TensorDelete {
                type Value = ::planus::Offset<TensorDelete>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorDelete>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorDeleteRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorDeleteRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorInspect` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorInspect` in the file `schema/wire.fbs:109`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorInspect {
                /// The field `name` in the table `TensorInspect`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `tensor` in the table `TensorInspect`
                pub tensor: ::core::option::Option<self::Id>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorInspect {
                fn default() -> Self {
                    Self {
                        name: ::core::default::Default::default(),
                        tensor: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorInspect {
                /// Creates a [TensorInspectBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorInspectBuilder<()> {
                    TensorInspectBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                ) -> ::planus::Offset<Self> {
                    let prepared_name = field_name.prepare(builder);
                    let prepared_tensor = field_tensor.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(1);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorInspect>> for TensorInspect {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorInspect> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorInspect>> for TensorInspect {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorInspect>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorInspect> for TensorInspect {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorInspect> {
                    TensorInspect::create(builder, &self.name, self.tensor)
                }
            }

            /// Builder for serializing an instance of the [TensorInspect] type.
            ///
            /// Can be created using the [TensorInspect::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorInspectBuilder<State>(State);

            impl TensorInspectBuilder<()> {
                /// Setter for the [`name` field](TensorInspect#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T0>(self, value: T0) -> TensorInspectBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    TensorInspectBuilder((value,))
                }

                /// Sets the [`name` field](TensorInspect#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorInspectBuilder<((),)> {
                    self.name(())
                }
            }

            impl<T0> TensorInspectBuilder<(T0,)> {
                /// Setter for the [`tensor` field](TensorInspect#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T1>(self, value: T1) -> TensorInspectBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0,) = self.0;
                    TensorInspectBuilder((v0, value))
                }

                /// Sets the [`tensor` field](TensorInspect#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorInspectBuilder<(T0, ())> {
                    self.tensor(())
                }
            }

            impl<T0, T1> TensorInspectBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorInspect].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorInspect>
                where
                    Self: ::planus::WriteAsOffset<TensorInspect>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAs<::planus::Offset<TensorInspect>>
                for TensorInspectBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<TensorInspect>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorInspect> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorInspect>>
                for TensorInspectBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<TensorInspect>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorInspect>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<self::Id>,
            > ::planus::WriteAsOffset<TensorInspect> for TensorInspectBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorInspect> {
                    let (v0, v1) = &self.0;
                    TensorInspect::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [TensorInspect].
            #[derive(Copy, Clone)]
            pub struct TensorInspectRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorInspectRef<'a> {
                /// Getter for the [`name` field](TensorInspect#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "TensorInspect", "name")
                }

                /// Getter for the [`tensor` field](TensorInspect#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(1, "TensorInspect", "tensor")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorInspectRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorInspectRef");
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorInspectRef<'a>> for TensorInspect {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorInspectRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        name: value.name()?.map(::core::convert::Into::into),
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorInspectRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorInspectRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorInspectRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorInspect>> for TensorInspect {
                type Value = ::planus::Offset<TensorInspect>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorInspect>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorInspectRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorInspectRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorList` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorList` in the file `schema/wire.fbs:114`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorList {
                /// The field `prefix` in the table `TensorList`
                pub prefix: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorList {
                fn default() -> Self {
                    Self {
                        prefix: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorList {
                /// Creates a [TensorListBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorListBuilder<()> {
                    TensorListBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_prefix: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_prefix = field_prefix.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_prefix.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_prefix) = prepared_prefix {
                                object_writer.write::<_, _, 4>(&prepared_prefix);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorList>> for TensorList {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorList> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorList>> for TensorList {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorList>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorList> for TensorList {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorList> {
                    TensorList::create(builder, &self.prefix)
                }
            }

            /// Builder for serializing an instance of the [TensorList] type.
            ///
            /// Can be created using the [TensorList::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorListBuilder<State>(State);

            impl TensorListBuilder<()> {
                /// Setter for the [`prefix` field](TensorList#structfield.prefix).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn prefix<T0>(self, value: T0) -> TensorListBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    TensorListBuilder((value,))
                }

                /// Sets the [`prefix` field](TensorList#structfield.prefix) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn prefix_as_null(self) -> TensorListBuilder<((),)> {
                    self.prefix(())
                }
            }

            impl<T0> TensorListBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorList].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorList>
                where
                    Self: ::planus::WriteAsOffset<TensorList>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>>
                ::planus::WriteAs<::planus::Offset<TensorList>> for TensorListBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorList>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorList> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>>
                ::planus::WriteAsOptional<::planus::Offset<TensorList>>
                for TensorListBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<TensorList>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorList>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>>
                ::planus::WriteAsOffset<TensorList> for TensorListBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorList> {
                    let (v0,) = &self.0;
                    TensorList::create(builder, v0)
                }
            }

            /// Reference to a deserialized [TensorList].
            #[derive(Copy, Clone)]
            pub struct TensorListRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorListRef<'a> {
                /// Getter for the [`prefix` field](TensorList#structfield.prefix).
                #[inline]
                pub fn prefix(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "TensorList", "prefix")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorListRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorListRef");
                    if let ::core::option::Option::Some(field_prefix) = self.prefix().transpose() {
                        f.field("prefix", &field_prefix);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorListRef<'a>> for TensorList {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorListRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        prefix: value.prefix()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorListRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorListRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorListRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorList>> for TensorList {
                type Value = ::planus::Offset<TensorList>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorList>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorListRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorListRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `LeaseRelease` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `LeaseRelease` in the file `schema/wire.fbs:118`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct LeaseRelease {
                /// The field `leases` in the table `LeaseRelease`
                pub leases: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for LeaseRelease {
                fn default() -> Self {
                    Self {
                        leases: ::core::default::Default::default(),
                    }
                }
            }

            impl LeaseRelease {
                /// Creates a [LeaseReleaseBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> LeaseReleaseBuilder<()> {
                    LeaseReleaseBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_leases: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_leases = field_leases.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_leases.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_leases) = prepared_leases {
                                object_writer.write::<_, _, 4>(&prepared_leases);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<LeaseRelease>> for LeaseRelease {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<LeaseRelease> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<LeaseRelease>> for LeaseRelease {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<LeaseRelease>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<LeaseRelease> for LeaseRelease {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<LeaseRelease> {
                    LeaseRelease::create(builder, &self.leases)
                }
            }

            /// Builder for serializing an instance of the [LeaseRelease] type.
            ///
            /// Can be created using the [LeaseRelease::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct LeaseReleaseBuilder<State>(State);

            impl LeaseReleaseBuilder<()> {
                /// Setter for the [`leases` field](LeaseRelease#structfield.leases).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases<T0>(self, value: T0) -> LeaseReleaseBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    LeaseReleaseBuilder((value,))
                }

                /// Sets the [`leases` field](LeaseRelease#structfield.leases) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases_as_null(self) -> LeaseReleaseBuilder<((),)> {
                    self.leases(())
                }
            }

            impl<T0> LeaseReleaseBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [LeaseRelease].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<LeaseRelease>
                where
                    Self: ::planus::WriteAsOffset<LeaseRelease>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>>
                ::planus::WriteAs<::planus::Offset<LeaseRelease>> for LeaseReleaseBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<LeaseRelease>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<LeaseRelease> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>>
                ::planus::WriteAsOptional<::planus::Offset<LeaseRelease>>
                for LeaseReleaseBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<LeaseRelease>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<LeaseRelease>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>>
                ::planus::WriteAsOffset<LeaseRelease> for LeaseReleaseBuilder<(T0,)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<LeaseRelease> {
                    let (v0,) = &self.0;
                    LeaseRelease::create(builder, v0)
                }
            }

            /// Reference to a deserialized [LeaseRelease].
            #[derive(Copy, Clone)]
            pub struct LeaseReleaseRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> LeaseReleaseRef<'a> {
                /// Getter for the [`leases` field](LeaseRelease#structfield.leases).
                #[inline]
                pub fn leases(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(0, "LeaseRelease", "leases")
                }
            }

            impl<'a> ::core::fmt::Debug for LeaseReleaseRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("LeaseReleaseRef");
                    if let ::core::option::Option::Some(field_leases) = self.leases().transpose() {
                        f.field("leases", &field_leases);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<LeaseReleaseRef<'a>> for LeaseRelease {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: LeaseReleaseRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        leases: if let ::core::option::Option::Some(leases) = value.leases()? {
                            ::core::option::Option::Some(leases.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for LeaseReleaseRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for LeaseReleaseRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[LeaseReleaseRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<LeaseRelease>> for LeaseRelease {
                type Value = ::planus::Offset<LeaseRelease>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<LeaseRelease>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for LeaseReleaseRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[LeaseReleaseRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Subscribe` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Subscribe` in the file `schema/wire.fbs:122`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Subscribe {
                /// The field `from` in the table `Subscribe`
                pub from: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Subscribe {
                fn default() -> Self {
                    Self { from: 0 }
                }
            }

            impl Subscribe {
                /// Creates a [SubscribeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> SubscribeBuilder<()> {
                    SubscribeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_from: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_from = field_from.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_from.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_from) = prepared_from {
                                object_writer.write::<_, _, 8>(&prepared_from);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Subscribe>> for Subscribe {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Subscribe> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Subscribe>> for Subscribe {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Subscribe>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Subscribe> for Subscribe {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Subscribe> {
                    Subscribe::create(builder, self.from)
                }
            }

            /// Builder for serializing an instance of the [Subscribe] type.
            ///
            /// Can be created using the [Subscribe::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct SubscribeBuilder<State>(State);

            impl SubscribeBuilder<()> {
                /// Setter for the [`from` field](Subscribe#structfield.from).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from<T0>(self, value: T0) -> SubscribeBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    SubscribeBuilder((value,))
                }

                /// Sets the [`from` field](Subscribe#structfield.from) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_as_default(self) -> SubscribeBuilder<(::planus::DefaultValue,)> {
                    self.from(::planus::DefaultValue)
                }
            }

            impl<T0> SubscribeBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Subscribe].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Subscribe>
                where
                    Self: ::planus::WriteAsOffset<Subscribe>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAs<::planus::Offset<Subscribe>> for SubscribeBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Subscribe>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Subscribe> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAsOptional<::planus::Offset<Subscribe>> for SubscribeBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Subscribe>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Subscribe>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>> ::planus::WriteAsOffset<Subscribe>
                for SubscribeBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Subscribe> {
                    let (v0,) = &self.0;
                    Subscribe::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Subscribe].
            #[derive(Copy, Clone)]
            pub struct SubscribeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> SubscribeRef<'a> {
                /// Getter for the [`from` field](Subscribe#structfield.from).
                #[inline]
                pub fn from(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(0, "Subscribe", "from")?.unwrap_or(0))
                }
            }

            impl<'a> ::core::fmt::Debug for SubscribeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("SubscribeRef");
                    f.field("from", &self.from());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<SubscribeRef<'a>> for Subscribe {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: SubscribeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        from: ::core::convert::TryInto::try_into(value.from()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for SubscribeRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for SubscribeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[SubscribeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Subscribe>> for Subscribe {
                type Value = ::planus::Offset<Subscribe>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Subscribe>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for SubscribeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[SubscribeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The union `RequestBody` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Union `RequestBody` in the file `schema/wire.fbs:127`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub enum RequestBody {
                /// The variant of type `Hello` in the union `RequestBody`
                Hello(::planus::alloc::boxed::Box<self::Hello>),

                /// The variant of type `Claim` in the union `RequestBody`
                Claim(::planus::alloc::boxed::Box<self::Claim>),

                /// The variant of type `Goodbye` in the union `RequestBody`
                Goodbye(::planus::alloc::boxed::Box<self::Goodbye>),

                /// The variant of type `Ping` in the union `RequestBody`
                Ping(::planus::alloc::boxed::Box<self::Ping>),

                /// The variant of type `PondStatus` in the union `RequestBody`
                PondStatus(::planus::alloc::boxed::Box<self::PondStatus>),

                /// The variant of type `ClientList` in the union `RequestBody`
                ClientList(::planus::alloc::boxed::Box<self::ClientList>),

                /// The variant of type `TensorCreate` in the union `RequestBody`
                TensorCreate(::planus::alloc::boxed::Box<self::TensorCreate>),

                /// The variant of type `TensorGet` in the union `RequestBody`
                TensorGet(::planus::alloc::boxed::Box<self::TensorGet>),

                /// The variant of type `TensorPublish` in the union `RequestBody`
                TensorPublish(::planus::alloc::boxed::Box<self::TensorPublish>),

                /// The variant of type `TensorDelete` in the union `RequestBody`
                TensorDelete(::planus::alloc::boxed::Box<self::TensorDelete>),

                /// The variant of type `TensorInspect` in the union `RequestBody`
                TensorInspect(::planus::alloc::boxed::Box<self::TensorInspect>),

                /// The variant of type `TensorList` in the union `RequestBody`
                TensorList(::planus::alloc::boxed::Box<self::TensorList>),

                /// The variant of type `LeaseRelease` in the union `RequestBody`
                LeaseRelease(::planus::alloc::boxed::Box<self::LeaseRelease>),

                /// The variant of type `Subscribe` in the union `RequestBody`
                Subscribe(::planus::alloc::boxed::Box<self::Subscribe>),

                /// The variant of type `TensorMove` in the union `RequestBody`
                TensorMove(::planus::alloc::boxed::Box<self::TensorMove>),

                /// The variant of type `Collect` in the union `RequestBody`
                Collect(::planus::alloc::boxed::Box<self::Collect>),

                /// The variant of type `Upgrade` in the union `RequestBody`
                Upgrade(::planus::alloc::boxed::Box<self::Upgrade>),
            }

            impl RequestBody {
                /// Creates a [RequestBodyBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> RequestBodyBuilder<::planus::Uninitialized> {
                    RequestBodyBuilder(::planus::Uninitialized)
                }

                #[inline]
                pub fn create_hello(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Hello>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(1, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_claim(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Claim>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(2, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_goodbye(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Goodbye>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(3, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_ping(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Ping>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(4, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_pond_status(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::PondStatus>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(5, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_client_list(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::ClientList>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(6, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_create(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorCreate>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(7, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_get(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorGet>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(8, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_publish(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorPublish>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(9, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_delete(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorDelete>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(10, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_inspect(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorInspect>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(11, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_list(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorList>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(12, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_lease_release(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::LeaseRelease>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(13, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_subscribe(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Subscribe>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(14, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_move(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorMove>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(15, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_collect(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Collect>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(16, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_upgrade(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Upgrade>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(17, value.prepare(builder).downcast())
                }
            }

            impl ::planus::WriteAsUnion<RequestBody> for RequestBody {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Self> {
                    match self {
                        Self::Hello(value) => Self::create_hello(builder, value),
                        Self::Claim(value) => Self::create_claim(builder, value),
                        Self::Goodbye(value) => Self::create_goodbye(builder, value),
                        Self::Ping(value) => Self::create_ping(builder, value),
                        Self::PondStatus(value) => Self::create_pond_status(builder, value),
                        Self::ClientList(value) => Self::create_client_list(builder, value),
                        Self::TensorCreate(value) => Self::create_tensor_create(builder, value),
                        Self::TensorGet(value) => Self::create_tensor_get(builder, value),
                        Self::TensorPublish(value) => Self::create_tensor_publish(builder, value),
                        Self::TensorDelete(value) => Self::create_tensor_delete(builder, value),
                        Self::TensorInspect(value) => Self::create_tensor_inspect(builder, value),
                        Self::TensorList(value) => Self::create_tensor_list(builder, value),
                        Self::LeaseRelease(value) => Self::create_lease_release(builder, value),
                        Self::Subscribe(value) => Self::create_subscribe(builder, value),
                        Self::TensorMove(value) => Self::create_tensor_move(builder, value),
                        Self::Collect(value) => Self::create_collect(builder, value),
                        Self::Upgrade(value) => Self::create_upgrade(builder, value),
                    }
                }
            }

            impl ::planus::WriteAsOptionalUnion<RequestBody> for RequestBody {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Self>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }

            /// Builder for serializing an instance of the [RequestBody] type.
            ///
            /// Can be created using the [RequestBody::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct RequestBodyBuilder<T>(T);

            impl RequestBodyBuilder<::planus::Uninitialized> {
                /// Creates an instance of the [`Hello` variant](RequestBody#variant.Hello).
                #[inline]
                pub fn hello<T>(self, value: T) -> RequestBodyBuilder<::planus::Initialized<1, T>>
                where
                    T: ::planus::WriteAsOffset<self::Hello>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Claim` variant](RequestBody#variant.Claim).
                #[inline]
                pub fn claim<T>(self, value: T) -> RequestBodyBuilder<::planus::Initialized<2, T>>
                where
                    T: ::planus::WriteAsOffset<self::Claim>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Goodbye` variant](RequestBody#variant.Goodbye).
                #[inline]
                pub fn goodbye<T>(self, value: T) -> RequestBodyBuilder<::planus::Initialized<3, T>>
                where
                    T: ::planus::WriteAsOffset<self::Goodbye>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Ping` variant](RequestBody#variant.Ping).
                #[inline]
                pub fn ping<T>(self, value: T) -> RequestBodyBuilder<::planus::Initialized<4, T>>
                where
                    T: ::planus::WriteAsOffset<self::Ping>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`PondStatus` variant](RequestBody#variant.PondStatus).
                #[inline]
                pub fn pond_status<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<5, T>>
                where
                    T: ::planus::WriteAsOffset<self::PondStatus>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`ClientList` variant](RequestBody#variant.ClientList).
                #[inline]
                pub fn client_list<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<6, T>>
                where
                    T: ::planus::WriteAsOffset<self::ClientList>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorCreate` variant](RequestBody#variant.TensorCreate).
                #[inline]
                pub fn tensor_create<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<7, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorCreate>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorGet` variant](RequestBody#variant.TensorGet).
                #[inline]
                pub fn tensor_get<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<8, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorGet>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorPublish` variant](RequestBody#variant.TensorPublish).
                #[inline]
                pub fn tensor_publish<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<9, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorPublish>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorDelete` variant](RequestBody#variant.TensorDelete).
                #[inline]
                pub fn tensor_delete<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<10, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorDelete>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorInspect` variant](RequestBody#variant.TensorInspect).
                #[inline]
                pub fn tensor_inspect<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<11, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorInspect>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorList` variant](RequestBody#variant.TensorList).
                #[inline]
                pub fn tensor_list<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<12, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorList>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`LeaseRelease` variant](RequestBody#variant.LeaseRelease).
                #[inline]
                pub fn lease_release<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<13, T>>
                where
                    T: ::planus::WriteAsOffset<self::LeaseRelease>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Subscribe` variant](RequestBody#variant.Subscribe).
                #[inline]
                pub fn subscribe<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<14, T>>
                where
                    T: ::planus::WriteAsOffset<self::Subscribe>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorMove` variant](RequestBody#variant.TensorMove).
                #[inline]
                pub fn tensor_move<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<15, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorMove>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Collect` variant](RequestBody#variant.Collect).
                #[inline]
                pub fn collect<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<16, T>>
                where
                    T: ::planus::WriteAsOffset<self::Collect>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Upgrade` variant](RequestBody#variant.Upgrade).
                #[inline]
                pub fn upgrade<T>(
                    self,
                    value: T,
                ) -> RequestBodyBuilder<::planus::Initialized<17, T>>
                where
                    T: ::planus::WriteAsOffset<self::Upgrade>,
                {
                    RequestBodyBuilder(::planus::Initialized(value))
                }
            }

            impl<const N: u8, T> RequestBodyBuilder<::planus::Initialized<N, T>> {
                /// Finish writing the builder to get an [UnionOffset](::planus::UnionOffset) to a serialized [RequestBody].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody>
                where
                    Self: ::planus::WriteAsUnion<RequestBody>,
                {
                    ::planus::WriteAsUnion::prepare(&self, builder)
                }
            }

            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<1, T>>
            where
                T: ::planus::WriteAsOffset<self::Hello>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(1, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<1, T>>
            where
                T: ::planus::WriteAsOffset<self::Hello>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<2, T>>
            where
                T: ::planus::WriteAsOffset<self::Claim>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(2, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<2, T>>
            where
                T: ::planus::WriteAsOffset<self::Claim>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<3, T>>
            where
                T: ::planus::WriteAsOffset<self::Goodbye>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(3, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<3, T>>
            where
                T: ::planus::WriteAsOffset<self::Goodbye>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<4, T>>
            where
                T: ::planus::WriteAsOffset<self::Ping>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(4, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<4, T>>
            where
                T: ::planus::WriteAsOffset<self::Ping>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<5, T>>
            where
                T: ::planus::WriteAsOffset<self::PondStatus>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(5, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<5, T>>
            where
                T: ::planus::WriteAsOffset<self::PondStatus>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<6, T>>
            where
                T: ::planus::WriteAsOffset<self::ClientList>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(6, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<6, T>>
            where
                T: ::planus::WriteAsOffset<self::ClientList>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<7, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorCreate>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(7, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<7, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorCreate>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<8, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorGet>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(8, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<8, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorGet>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<9, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorPublish>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(9, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<9, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorPublish>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<10, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorDelete>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(10, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<10, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorDelete>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<11, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorInspect>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(11, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<11, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorInspect>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<12, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorList>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(12, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<12, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorList>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<13, T>>
            where
                T: ::planus::WriteAsOffset<self::LeaseRelease>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(13, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<13, T>>
            where
                T: ::planus::WriteAsOffset<self::LeaseRelease>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<14, T>>
            where
                T: ::planus::WriteAsOffset<self::Subscribe>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(14, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<14, T>>
            where
                T: ::planus::WriteAsOffset<self::Subscribe>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<15, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorMove>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(15, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<15, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorMove>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<16, T>>
            where
                T: ::planus::WriteAsOffset<self::Collect>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(16, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<16, T>>
            where
                T: ::planus::WriteAsOffset<self::Collect>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<RequestBody> for RequestBodyBuilder<::planus::Initialized<17, T>>
            where
                T: ::planus::WriteAsOffset<self::Upgrade>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<RequestBody> {
                    ::planus::UnionOffset::new(17, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<RequestBody>
                for RequestBodyBuilder<::planus::Initialized<17, T>>
            where
                T: ::planus::WriteAsOffset<self::Upgrade>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<RequestBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }

            /// Reference to a deserialized [RequestBody].
            #[derive(Copy, Clone, Debug)]
            pub enum RequestBodyRef<'a> {
                Hello(self::HelloRef<'a>),
                Claim(self::ClaimRef<'a>),
                Goodbye(self::GoodbyeRef<'a>),
                Ping(self::PingRef<'a>),
                PondStatus(self::PondStatusRef<'a>),
                ClientList(self::ClientListRef<'a>),
                TensorCreate(self::TensorCreateRef<'a>),
                TensorGet(self::TensorGetRef<'a>),
                TensorPublish(self::TensorPublishRef<'a>),
                TensorDelete(self::TensorDeleteRef<'a>),
                TensorInspect(self::TensorInspectRef<'a>),
                TensorList(self::TensorListRef<'a>),
                LeaseRelease(self::LeaseReleaseRef<'a>),
                Subscribe(self::SubscribeRef<'a>),
                TensorMove(self::TensorMoveRef<'a>),
                Collect(self::CollectRef<'a>),
                Upgrade(self::UpgradeRef<'a>),
            }

            impl<'a> ::core::convert::TryFrom<RequestBodyRef<'a>> for RequestBody {
                type Error = ::planus::Error;

                fn try_from(value: RequestBodyRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(match value {
                        RequestBodyRef::Hello(value) => {
                            Self::Hello(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::Claim(value) => {
                            Self::Claim(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::Goodbye(value) => {
                            Self::Goodbye(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::Ping(value) => {
                            Self::Ping(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::PondStatus(value) => {
                            Self::PondStatus(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::ClientList(value) => {
                            Self::ClientList(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorCreate(value) => {
                            Self::TensorCreate(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorGet(value) => {
                            Self::TensorGet(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorPublish(value) => {
                            Self::TensorPublish(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorDelete(value) => {
                            Self::TensorDelete(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorInspect(value) => {
                            Self::TensorInspect(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorList(value) => {
                            Self::TensorList(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::LeaseRelease(value) => {
                            Self::LeaseRelease(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::Subscribe(value) => {
                            Self::Subscribe(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::TensorMove(value) => {
                            Self::TensorMove(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::Collect(value) => {
                            Self::Collect(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        RequestBodyRef::Upgrade(value) => {
                            Self::Upgrade(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }
                    })
                }
            }

            impl<'a> ::planus::TableReadUnion<'a> for RequestBodyRef<'a> {
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    tag: u8,
                    field_offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    match tag {
                        1 => ::core::result::Result::Ok(Self::Hello(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        2 => ::core::result::Result::Ok(Self::Claim(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        3 => ::core::result::Result::Ok(Self::Goodbye(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        4 => ::core::result::Result::Ok(Self::Ping(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        5 => ::core::result::Result::Ok(Self::PondStatus(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        6 => ::core::result::Result::Ok(Self::ClientList(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        7 => ::core::result::Result::Ok(Self::TensorCreate(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        8 => ::core::result::Result::Ok(Self::TensorGet(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        9 => ::core::result::Result::Ok(Self::TensorPublish(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        10 => ::core::result::Result::Ok(Self::TensorDelete(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        11 => ::core::result::Result::Ok(Self::TensorInspect(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        12 => ::core::result::Result::Ok(Self::TensorList(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        13 => ::core::result::Result::Ok(Self::LeaseRelease(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        14 => ::core::result::Result::Ok(Self::Subscribe(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        15 => ::core::result::Result::Ok(Self::TensorMove(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        16 => ::core::result::Result::Ok(Self::Collect(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        17 => ::core::result::Result::Ok(Self::Upgrade(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        _ => ::core::result::Result::Err(
                            ::planus::errors::ErrorKind::UnknownUnionTag { tag },
                        ),
                    }
                }
            }

            impl<'a> ::planus::VectorReadUnion<'a> for RequestBodyRef<'a> {
                const VECTOR_NAME: &'static str = "[RequestBodyRef]";
            }

            /// The table `Request` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Request` in the file `schema/wire.fbs:147`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Request {
                /// The field `number` in the table `Request`
                pub number: u64,
                /// The field `body` in the table `Request`
                pub body: ::core::option::Option<self::RequestBody>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Request {
                fn default() -> Self {
                    Self {
                        number: 0,
                        body: ::core::default::Default::default(),
                    }
                }
            }

            impl Request {
                /// Creates a [RequestBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> RequestBuilder<()> {
                    RequestBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_number: impl ::planus::WriteAsDefault<u64, u64>,
                    field_body: impl ::planus::WriteAsOptionalUnion<self::RequestBody>,
                ) -> ::planus::Offset<Self> {
                    let prepared_number = field_number.prepare(builder, &0);
                    let prepared_body = field_body.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<10> =
                        ::core::default::Default::default();
                    if prepared_number.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }
                    if prepared_body.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::RequestBody>>(2);
                    }
                    if prepared_body.is_some() {
                        table_writer.write_entry::<u8>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_number) = prepared_number {
                                object_writer.write::<_, _, 8>(&prepared_number);
                            }
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

            impl ::planus::WriteAs<::planus::Offset<Request>> for Request {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Request> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Request>> for Request {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Request>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Request> for Request {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Request> {
                    Request::create(builder, self.number, &self.body)
                }
            }

            /// Builder for serializing an instance of the [Request] type.
            ///
            /// Can be created using the [Request::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct RequestBuilder<State>(State);

            impl RequestBuilder<()> {
                /// Setter for the [`number` field](Request#structfield.number).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn number<T0>(self, value: T0) -> RequestBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    RequestBuilder((value,))
                }

                /// Sets the [`number` field](Request#structfield.number) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn number_as_default(self) -> RequestBuilder<(::planus::DefaultValue,)> {
                    self.number(::planus::DefaultValue)
                }
            }

            impl<T0> RequestBuilder<(T0,)> {
                /// Setter for the [`body` field](Request#structfield.body).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn body<T1>(self, value: T1) -> RequestBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptionalUnion<self::RequestBody>,
                {
                    let (v0,) = self.0;
                    RequestBuilder((v0, value))
                }

                /// Sets the [`body` field](Request#structfield.body) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn body_as_null(self) -> RequestBuilder<(T0, ())> {
                    self.body(())
                }
            }

            impl<T0, T1> RequestBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Request].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Request>
                where
                    Self: ::planus::WriteAsOffset<Request>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptionalUnion<self::RequestBody>,
            > ::planus::WriteAs<::planus::Offset<Request>> for RequestBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Request>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Request> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptionalUnion<self::RequestBody>,
            > ::planus::WriteAsOptional<::planus::Offset<Request>> for RequestBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Request>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Request>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptionalUnion<self::RequestBody>,
            > ::planus::WriteAsOffset<Request> for RequestBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Request> {
                    let (v0, v1) = &self.0;
                    Request::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [Request].
            #[derive(Copy, Clone)]
            pub struct RequestRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> RequestRef<'a> {
                /// Getter for the [`number` field](Request#structfield.number).
                #[inline]
                pub fn number(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(0, "Request", "number")?.unwrap_or(0))
                }

                /// Getter for the [`body` field](Request#structfield.body).
                #[inline]
                pub fn body(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::RequestBodyRef<'a>>>
                {
                    self.0.access_union(1, "Request", "body")
                }
            }

            impl<'a> ::core::fmt::Debug for RequestRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("RequestRef");
                    f.field("number", &self.number());
                    if let ::core::option::Option::Some(field_body) = self.body().transpose() {
                        f.field("body", &field_body);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<RequestRef<'a>> for Request {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: RequestRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        number: ::core::convert::TryInto::try_into(value.number()?)?,
                        body: if let ::core::option::Option::Some(body) = value.body()? {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(body)?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for RequestRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for RequestRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[RequestRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Request>> for Request {
                type Value = ::planus::Offset<Request>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Request>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for RequestRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[RequestRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Welcome` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Welcome` in the file `schema/wire.fbs:155`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Welcome {
                /// The field `version` in the table `Welcome`
                pub version: u16,
                /// The field `capabilities` in the table `Welcome`
                pub capabilities: u64,
                /// The field `pond` in the table `Welcome`
                pub pond: ::core::option::Option<self::Id>,
                /// The field `epoch` in the table `Welcome`
                pub epoch: u64,
                /// The field `daemon_version` in the table `Welcome`
                pub daemon_version: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `tenant` in the table `Welcome`
                pub tenant: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `user` in the table `Welcome`
                pub user: u32,
                /// The field `admin` in the table `Welcome`
                pub admin: bool,
                /// The field `page_slots` in the table `Welcome`
                pub page_slots: u32,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Welcome {
                fn default() -> Self {
                    Self {
                        version: 0,
                        capabilities: 0,
                        pond: ::core::default::Default::default(),
                        epoch: 0,
                        daemon_version: ::core::default::Default::default(),
                        tenant: ::core::default::Default::default(),
                        user: 0,
                        admin: false,
                        page_slots: 0,
                    }
                }
            }

            impl Welcome {
                /// Creates a [WelcomeBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> WelcomeBuilder<()> {
                    WelcomeBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_version: impl ::planus::WriteAsDefault<u16, u16>,
                    field_capabilities: impl ::planus::WriteAsDefault<u64, u64>,
                    field_pond: impl ::planus::WriteAsOptional<self::Id>,
                    field_epoch: impl ::planus::WriteAsDefault<u64, u64>,
                    field_daemon_version: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_tenant: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_admin: impl ::planus::WriteAsDefault<bool, bool>,
                    field_page_slots: impl ::planus::WriteAsDefault<u32, u32>,
                ) -> ::planus::Offset<Self> {
                    let prepared_version = field_version.prepare(builder, &0);
                    let prepared_capabilities = field_capabilities.prepare(builder, &0);
                    let prepared_pond = field_pond.prepare(builder);
                    let prepared_epoch = field_epoch.prepare(builder, &0);
                    let prepared_daemon_version = field_daemon_version.prepare(builder);
                    let prepared_tenant = field_tenant.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_admin = field_admin.prepare(builder, &false);
                    let prepared_page_slots = field_page_slots.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<22> =
                        ::core::default::Default::default();
                    if prepared_capabilities.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_pond.is_some() {
                        table_writer.write_entry::<self::Id>(2);
                    }
                    if prepared_epoch.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_daemon_version.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(4);
                    }
                    if prepared_tenant.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(5);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(6);
                    }
                    if prepared_page_slots.is_some() {
                        table_writer.write_entry::<u32>(8);
                    }
                    if prepared_version.is_some() {
                        table_writer.write_entry::<u16>(0);
                    }
                    if prepared_admin.is_some() {
                        table_writer.write_entry::<bool>(7);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_capabilities) =
                                prepared_capabilities
                            {
                                object_writer.write::<_, _, 8>(&prepared_capabilities);
                            }
                            if let ::core::option::Option::Some(prepared_pond) = prepared_pond {
                                object_writer.write::<_, _, 16>(&prepared_pond);
                            }
                            if let ::core::option::Option::Some(prepared_epoch) = prepared_epoch {
                                object_writer.write::<_, _, 8>(&prepared_epoch);
                            }
                            if let ::core::option::Option::Some(prepared_daemon_version) =
                                prepared_daemon_version
                            {
                                object_writer.write::<_, _, 4>(&prepared_daemon_version);
                            }
                            if let ::core::option::Option::Some(prepared_tenant) = prepared_tenant {
                                object_writer.write::<_, _, 4>(&prepared_tenant);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_page_slots) =
                                prepared_page_slots
                            {
                                object_writer.write::<_, _, 4>(&prepared_page_slots);
                            }
                            if let ::core::option::Option::Some(prepared_version) = prepared_version
                            {
                                object_writer.write::<_, _, 2>(&prepared_version);
                            }
                            if let ::core::option::Option::Some(prepared_admin) = prepared_admin {
                                object_writer.write::<_, _, 1>(&prepared_admin);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Welcome>> for Welcome {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Welcome> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Welcome>> for Welcome {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Welcome>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Welcome> for Welcome {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Welcome> {
                    Welcome::create(
                        builder,
                        self.version,
                        self.capabilities,
                        self.pond,
                        self.epoch,
                        &self.daemon_version,
                        &self.tenant,
                        self.user,
                        self.admin,
                        self.page_slots,
                    )
                }
            }

            /// Builder for serializing an instance of the [Welcome] type.
            ///
            /// Can be created using the [Welcome::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct WelcomeBuilder<State>(State);

            impl WelcomeBuilder<()> {
                /// Setter for the [`version` field](Welcome#structfield.version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version<T0>(self, value: T0) -> WelcomeBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u16, u16>,
                {
                    WelcomeBuilder((value,))
                }

                /// Sets the [`version` field](Welcome#structfield.version) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn version_as_default(self) -> WelcomeBuilder<(::planus::DefaultValue,)> {
                    self.version(::planus::DefaultValue)
                }
            }

            impl<T0> WelcomeBuilder<(T0,)> {
                /// Setter for the [`capabilities` field](Welcome#structfield.capabilities).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capabilities<T1>(self, value: T1) -> WelcomeBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    WelcomeBuilder((v0, value))
                }

                /// Sets the [`capabilities` field](Welcome#structfield.capabilities) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capabilities_as_default(
                    self,
                ) -> WelcomeBuilder<(T0, ::planus::DefaultValue)> {
                    self.capabilities(::planus::DefaultValue)
                }
            }

            impl<T0, T1> WelcomeBuilder<(T0, T1)> {
                /// Setter for the [`pond` field](Welcome#structfield.pond).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pond<T2>(self, value: T2) -> WelcomeBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1) = self.0;
                    WelcomeBuilder((v0, v1, value))
                }

                /// Sets the [`pond` field](Welcome#structfield.pond) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pond_as_null(self) -> WelcomeBuilder<(T0, T1, ())> {
                    self.pond(())
                }
            }

            impl<T0, T1, T2> WelcomeBuilder<(T0, T1, T2)> {
                /// Setter for the [`epoch` field](Welcome#structfield.epoch).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn epoch<T3>(self, value: T3) -> WelcomeBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    WelcomeBuilder((v0, v1, v2, value))
                }

                /// Sets the [`epoch` field](Welcome#structfield.epoch) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn epoch_as_default(
                    self,
                ) -> WelcomeBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.epoch(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> WelcomeBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`daemon_version` field](Welcome#structfield.daemon_version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn daemon_version<T4>(self, value: T4) -> WelcomeBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    WelcomeBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`daemon_version` field](Welcome#structfield.daemon_version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn daemon_version_as_null(self) -> WelcomeBuilder<(T0, T1, T2, T3, ())> {
                    self.daemon_version(())
                }
            }

            impl<T0, T1, T2, T3, T4> WelcomeBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`tenant` field](Welcome#structfield.tenant).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant<T5>(self, value: T5) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    WelcomeBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`tenant` field](Welcome#structfield.tenant) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tenant_as_null(self) -> WelcomeBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.tenant(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> WelcomeBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`user` field](Welcome#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T6>(self, value: T6) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    WelcomeBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`user` field](Welcome#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`admin` field](Welcome#structfield.admin).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn admin<T7>(
                    self,
                    value: T7,
                ) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    WelcomeBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`admin` field](Welcome#structfield.admin) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn admin_as_default(
                    self,
                ) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.admin(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`page_slots` field](Welcome#structfield.page_slots).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn page_slots<T8>(
                    self,
                    value: T8,
                ) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    WelcomeBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`page_slots` field](Welcome#structfield.page_slots) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn page_slots_as_default(
                    self,
                ) -> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.page_slots(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Welcome].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Welcome>
                where
                    Self: ::planus::WriteAsOffset<Welcome>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAs<::planus::Offset<Welcome>>
                for WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                type Prepared = ::planus::Offset<Welcome>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Welcome> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAsOptional<::planus::Offset<Welcome>>
                for WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                type Prepared = ::planus::Offset<Welcome>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Welcome>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<self::Id>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsDefault<bool, bool>,
                T8: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAsOffset<Welcome>
                for WelcomeBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Welcome> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = &self.0;
                    Welcome::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8)
                }
            }

            /// Reference to a deserialized [Welcome].
            #[derive(Copy, Clone)]
            pub struct WelcomeRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> WelcomeRef<'a> {
                /// Getter for the [`version` field](Welcome#structfield.version).
                #[inline]
                pub fn version(&self) -> ::planus::Result<u16> {
                    ::core::result::Result::Ok(self.0.access(0, "Welcome", "version")?.unwrap_or(0))
                }

                /// Getter for the [`capabilities` field](Welcome#structfield.capabilities).
                #[inline]
                pub fn capabilities(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "Welcome", "capabilities")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`pond` field](Welcome#structfield.pond).
                #[inline]
                pub fn pond(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(2, "Welcome", "pond")
                }

                /// Getter for the [`epoch` field](Welcome#structfield.epoch).
                #[inline]
                pub fn epoch(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(3, "Welcome", "epoch")?.unwrap_or(0))
                }

                /// Getter for the [`daemon_version` field](Welcome#structfield.daemon_version).
                #[inline]
                pub fn daemon_version(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(4, "Welcome", "daemon_version")
                }

                /// Getter for the [`tenant` field](Welcome#structfield.tenant).
                #[inline]
                pub fn tenant(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(5, "Welcome", "tenant")
                }

                /// Getter for the [`user` field](Welcome#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(6, "Welcome", "user")?.unwrap_or(0))
                }

                /// Getter for the [`admin` field](Welcome#structfield.admin).
                #[inline]
                pub fn admin(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "Welcome", "admin")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`page_slots` field](Welcome#structfield.page_slots).
                #[inline]
                pub fn page_slots(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(8, "Welcome", "page_slots")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for WelcomeRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("WelcomeRef");
                    f.field("version", &self.version());
                    f.field("capabilities", &self.capabilities());
                    if let ::core::option::Option::Some(field_pond) = self.pond().transpose() {
                        f.field("pond", &field_pond);
                    }
                    f.field("epoch", &self.epoch());
                    if let ::core::option::Option::Some(field_daemon_version) =
                        self.daemon_version().transpose()
                    {
                        f.field("daemon_version", &field_daemon_version);
                    }
                    if let ::core::option::Option::Some(field_tenant) = self.tenant().transpose() {
                        f.field("tenant", &field_tenant);
                    }
                    f.field("user", &self.user());
                    f.field("admin", &self.admin());
                    f.field("page_slots", &self.page_slots());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<WelcomeRef<'a>> for Welcome {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: WelcomeRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        version: ::core::convert::TryInto::try_into(value.version()?)?,
                        capabilities: ::core::convert::TryInto::try_into(value.capabilities()?)?,
                        pond: value.pond()?.map(::core::convert::Into::into),
                        epoch: ::core::convert::TryInto::try_into(value.epoch()?)?,
                        daemon_version: value.daemon_version()?.map(::core::convert::Into::into),
                        tenant: value.tenant()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        admin: ::core::convert::TryInto::try_into(value.admin()?)?,
                        page_slots: ::core::convert::TryInto::try_into(value.page_slots()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for WelcomeRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for WelcomeRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[WelcomeRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Welcome>> for Welcome {
                type Value = ::planus::Offset<Welcome>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Welcome>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for WelcomeRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[WelcomeRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Claimed` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Claimed` in the file `schema/wire.fbs:169`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Claimed {
                /// The field `refused` in the table `Claimed`
                pub refused: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Claimed {
                fn default() -> Self {
                    Self {
                        refused: ::core::default::Default::default(),
                    }
                }
            }

            impl Claimed {
                /// Creates a [ClaimedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClaimedBuilder<()> {
                    ClaimedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_refused: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_refused = field_refused.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_refused.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_refused) = prepared_refused
                            {
                                object_writer.write::<_, _, 4>(&prepared_refused);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Claimed>> for Claimed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claimed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Claimed>> for Claimed {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Claimed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Claimed> for Claimed {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claimed> {
                    Claimed::create(builder, &self.refused)
                }
            }

            /// Builder for serializing an instance of the [Claimed] type.
            ///
            /// Can be created using the [Claimed::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClaimedBuilder<State>(State);

            impl ClaimedBuilder<()> {
                /// Setter for the [`refused` field](Claimed#structfield.refused).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn refused<T0>(self, value: T0) -> ClaimedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    ClaimedBuilder((value,))
                }

                /// Sets the [`refused` field](Claimed#structfield.refused) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn refused_as_null(self) -> ClaimedBuilder<((),)> {
                    self.refused(())
                }
            }

            impl<T0> ClaimedBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Claimed].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claimed>
                where
                    Self: ::planus::WriteAsOffset<Claimed>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>>
                ::planus::WriteAs<::planus::Offset<Claimed>> for ClaimedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Claimed>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claimed> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>>
                ::planus::WriteAsOptional<::planus::Offset<Claimed>> for ClaimedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Claimed>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Claimed>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsOptional<::planus::Offset<[u64]>>>
                ::planus::WriteAsOffset<Claimed> for ClaimedBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Claimed> {
                    let (v0,) = &self.0;
                    Claimed::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Claimed].
            #[derive(Copy, Clone)]
            pub struct ClaimedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClaimedRef<'a> {
                /// Getter for the [`refused` field](Claimed#structfield.refused).
                #[inline]
                pub fn refused(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(0, "Claimed", "refused")
                }
            }

            impl<'a> ::core::fmt::Debug for ClaimedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClaimedRef");
                    if let ::core::option::Option::Some(field_refused) = self.refused().transpose()
                    {
                        f.field("refused", &field_refused);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClaimedRef<'a>> for Claimed {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ClaimedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        refused: if let ::core::option::Option::Some(refused) = value.refused()? {
                            ::core::option::Option::Some(refused.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClaimedRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ClaimedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClaimedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Claimed>> for Claimed {
                type Value = ::planus::Offset<Claimed>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Claimed>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ClaimedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClaimedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Done` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Done` in the file `schema/wire.fbs:173`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Done {}

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Done {
                fn default() -> Self {
                    Self {}
                }
            }

            impl Done {
                /// Creates a [DoneBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> DoneBuilder<()> {
                    DoneBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(builder: &mut ::planus::Builder) -> ::planus::Offset<Self> {
                    let table_writer: ::planus::table_writer::TableWriter<4> =
                        ::core::default::Default::default();
                    unsafe {
                        table_writer.finish(builder, |_table_writer| {});
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Done>> for Done {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Done> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Done>> for Done {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Done>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Done> for Done {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Done> {
                    Done::create(builder)
                }
            }

            /// Builder for serializing an instance of the [Done] type.
            ///
            /// Can be created using the [Done::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct DoneBuilder<State>(State);

            impl DoneBuilder<()> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Done].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Done>
                where
                    Self: ::planus::WriteAsOffset<Done>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Done>> for DoneBuilder<()> {
                type Prepared = ::planus::Offset<Done>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Done> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Done>> for DoneBuilder<()> {
                type Prepared = ::planus::Offset<Done>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Done>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Done> for DoneBuilder<()> {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Done> {
                    Done::create(builder)
                }
            }

            /// Reference to a deserialized [Done].
            #[derive(Copy, Clone)]
            pub struct DoneRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> DoneRef<'a> {}

            impl<'a> ::core::fmt::Debug for DoneRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("DoneRef");

                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<DoneRef<'a>> for Done {
                type Error = ::planus::Error;

                fn try_from(_value: DoneRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {})
                }
            }

            impl<'a> ::planus::TableRead<'a> for DoneRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for DoneRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location("[DoneRef]", "get", buffer.offset_from_start)
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Done>> for Done {
                type Value = ::planus::Offset<Done>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Done>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for DoneRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[DoneRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorInfo` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorInfo` in the file `schema/wire.fbs:175`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorInfo {
                /// The field `tensor` in the table `TensorInfo`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `name` in the table `TensorInfo`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `dtype` in the table `TensorInfo`
                pub dtype: u8,
                /// The field `shape` in the table `TensorInfo`
                pub shape: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
                /// The field `strides` in the table `TensorInfo`
                pub strides: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
                /// The field `device` in the table `TensorInfo`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `bytes` in the table `TensorInfo`
                pub bytes: u64,
                /// The field `state` in the table `TensorInfo`
                pub state: u8,
                /// The field `generation` in the table `TensorInfo`
                pub generation: u64,
                /// The field `user` in the table `TensorInfo`
                pub user: u32,
                /// The field `audience` in the table `TensorInfo`
                pub audience: u8,
                /// The field `ephemeral` in the table `TensorInfo`
                pub ephemeral: bool,
                /// The field `created_unix_ms` in the table `TensorInfo`
                pub created_unix_ms: u64,
                /// The field `slab` in the table `TensorInfo`
                pub slab: ::core::option::Option<self::Id>,
                /// The field `slab_bytes` in the table `TensorInfo`
                pub slab_bytes: u64,
                /// The field `offset` in the table `TensorInfo`
                pub offset: u64,
                /// The field `leases` in the table `TensorInfo`
                pub leases: u32,
                /// The field `ttl_ms` in the table `TensorInfo`
                pub ttl_ms: ::core::option::Option<u64>,
                /// The field `linger_ms` in the table `TensorInfo`
                pub linger_ms: ::core::option::Option<u64>,
                /// The field `accesses_left` in the table `TensorInfo`
                pub accesses_left: ::core::option::Option<u64>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorInfo {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        dtype: 0,
                        shape: ::core::default::Default::default(),
                        strides: ::core::default::Default::default(),
                        device: ::core::default::Default::default(),
                        bytes: 0,
                        state: 0,
                        generation: 0,
                        user: 0,
                        audience: 0,
                        ephemeral: false,
                        created_unix_ms: 0,
                        slab: ::core::default::Default::default(),
                        slab_bytes: 0,
                        offset: 0,
                        leases: 0,
                        ttl_ms: ::core::default::Default::default(),
                        linger_ms: ::core::default::Default::default(),
                        accesses_left: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorInfo {
                /// Creates a [TensorInfoBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorInfoBuilder<()> {
                    TensorInfoBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_dtype: impl ::planus::WriteAsDefault<u8, u8>,
                    field_shape: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                    field_strides: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_state: impl ::planus::WriteAsDefault<u8, u8>,
                    field_generation: impl ::planus::WriteAsDefault<u64, u64>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_audience: impl ::planus::WriteAsDefault<u8, u8>,
                    field_ephemeral: impl ::planus::WriteAsDefault<bool, bool>,
                    field_created_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_slab: impl ::planus::WriteAsOptional<self::Id>,
                    field_slab_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_offset: impl ::planus::WriteAsDefault<u64, u64>,
                    field_leases: impl ::planus::WriteAsDefault<u32, u32>,
                    field_ttl_ms: impl ::planus::WriteAsOptional<u64>,
                    field_linger_ms: impl ::planus::WriteAsOptional<u64>,
                    field_accesses_left: impl ::planus::WriteAsOptional<u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_dtype = field_dtype.prepare(builder, &0);
                    let prepared_shape = field_shape.prepare(builder);
                    let prepared_strides = field_strides.prepare(builder);
                    let prepared_device = field_device.prepare(builder);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_state = field_state.prepare(builder, &0);
                    let prepared_generation = field_generation.prepare(builder, &0);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_audience = field_audience.prepare(builder, &0);
                    let prepared_ephemeral = field_ephemeral.prepare(builder, &false);
                    let prepared_created_unix_ms = field_created_unix_ms.prepare(builder, &0);
                    let prepared_slab = field_slab.prepare(builder);
                    let prepared_slab_bytes = field_slab_bytes.prepare(builder, &0);
                    let prepared_offset = field_offset.prepare(builder, &0);
                    let prepared_leases = field_leases.prepare(builder, &0);
                    let prepared_ttl_ms = field_ttl_ms.prepare(builder);
                    let prepared_linger_ms = field_linger_ms.prepare(builder);
                    let prepared_accesses_left = field_accesses_left.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<44> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(6);
                    }
                    if prepared_generation.is_some() {
                        table_writer.write_entry::<u64>(8);
                    }
                    if prepared_created_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(12);
                    }
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<self::Id>(13);
                    }
                    if prepared_slab_bytes.is_some() {
                        table_writer.write_entry::<u64>(14);
                    }
                    if prepared_offset.is_some() {
                        table_writer.write_entry::<u64>(15);
                    }
                    if prepared_ttl_ms.is_some() {
                        table_writer.write_entry::<u64>(17);
                    }
                    if prepared_linger_ms.is_some() {
                        table_writer.write_entry::<u64>(18);
                    }
                    if prepared_accesses_left.is_some() {
                        table_writer.write_entry::<u64>(19);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_shape.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(3);
                    }
                    if prepared_strides.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(4);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(5);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(9);
                    }
                    if prepared_leases.is_some() {
                        table_writer.write_entry::<u32>(16);
                    }
                    if prepared_dtype.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }
                    if prepared_state.is_some() {
                        table_writer.write_entry::<u8>(7);
                    }
                    if prepared_audience.is_some() {
                        table_writer.write_entry::<u8>(10);
                    }
                    if prepared_ephemeral.is_some() {
                        table_writer.write_entry::<bool>(11);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_generation) =
                                prepared_generation
                            {
                                object_writer.write::<_, _, 8>(&prepared_generation);
                            }
                            if let ::core::option::Option::Some(prepared_created_unix_ms) =
                                prepared_created_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_created_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 16>(&prepared_slab);
                            }
                            if let ::core::option::Option::Some(prepared_slab_bytes) =
                                prepared_slab_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_slab_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_offset) = prepared_offset {
                                object_writer.write::<_, _, 8>(&prepared_offset);
                            }
                            if let ::core::option::Option::Some(prepared_ttl_ms) = prepared_ttl_ms {
                                object_writer.write::<_, _, 8>(&prepared_ttl_ms);
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
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_shape) = prepared_shape {
                                object_writer.write::<_, _, 4>(&prepared_shape);
                            }
                            if let ::core::option::Option::Some(prepared_strides) = prepared_strides
                            {
                                object_writer.write::<_, _, 4>(&prepared_strides);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_leases) = prepared_leases {
                                object_writer.write::<_, _, 4>(&prepared_leases);
                            }
                            if let ::core::option::Option::Some(prepared_dtype) = prepared_dtype {
                                object_writer.write::<_, _, 1>(&prepared_dtype);
                            }
                            if let ::core::option::Option::Some(prepared_state) = prepared_state {
                                object_writer.write::<_, _, 1>(&prepared_state);
                            }
                            if let ::core::option::Option::Some(prepared_audience) =
                                prepared_audience
                            {
                                object_writer.write::<_, _, 1>(&prepared_audience);
                            }
                            if let ::core::option::Option::Some(prepared_ephemeral) =
                                prepared_ephemeral
                            {
                                object_writer.write::<_, _, 1>(&prepared_ephemeral);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorInfo>> for TensorInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorInfo>> for TensorInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorInfo> for TensorInfo {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorInfo> {
                    TensorInfo::create(
                        builder,
                        self.tensor,
                        &self.name,
                        self.dtype,
                        &self.shape,
                        &self.strides,
                        &self.device,
                        self.bytes,
                        self.state,
                        self.generation,
                        self.user,
                        self.audience,
                        self.ephemeral,
                        self.created_unix_ms,
                        self.slab,
                        self.slab_bytes,
                        self.offset,
                        self.leases,
                        self.ttl_ms,
                        self.linger_ms,
                        self.accesses_left,
                    )
                }
            }

            /// Builder for serializing an instance of the [TensorInfo] type.
            ///
            /// Can be created using the [TensorInfo::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorInfoBuilder<State>(State);

            impl TensorInfoBuilder<()> {
                /// Setter for the [`tensor` field](TensorInfo#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> TensorInfoBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    TensorInfoBuilder((value,))
                }

                /// Sets the [`tensor` field](TensorInfo#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> TensorInfoBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> TensorInfoBuilder<(T0,)> {
                /// Setter for the [`name` field](TensorInfo#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T1>(self, value: T1) -> TensorInfoBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    TensorInfoBuilder((v0, value))
                }

                /// Sets the [`name` field](TensorInfo#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorInfoBuilder<(T0, ())> {
                    self.name(())
                }
            }

            impl<T0, T1> TensorInfoBuilder<(T0, T1)> {
                /// Setter for the [`dtype` field](TensorInfo#structfield.dtype).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype<T2>(self, value: T2) -> TensorInfoBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    TensorInfoBuilder((v0, v1, value))
                }

                /// Sets the [`dtype` field](TensorInfo#structfield.dtype) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype_as_default(
                    self,
                ) -> TensorInfoBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.dtype(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> TensorInfoBuilder<(T0, T1, T2)> {
                /// Setter for the [`shape` field](TensorInfo#structfield.shape).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape<T3>(self, value: T3) -> TensorInfoBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorInfoBuilder((v0, v1, v2, value))
                }

                /// Sets the [`shape` field](TensorInfo#structfield.shape) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape_as_null(self) -> TensorInfoBuilder<(T0, T1, T2, ())> {
                    self.shape(())
                }
            }

            impl<T0, T1, T2, T3> TensorInfoBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`strides` field](TensorInfo#structfield.strides).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn strides<T4>(self, value: T4) -> TensorInfoBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`strides` field](TensorInfo#structfield.strides) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn strides_as_null(self) -> TensorInfoBuilder<(T0, T1, T2, T3, ())> {
                    self.strides(())
                }
            }

            impl<T0, T1, T2, T3, T4> TensorInfoBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`device` field](TensorInfo#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T5>(self, value: T5) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`device` field](TensorInfo#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.device(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`bytes` field](TensorInfo#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T6>(self, value: T6) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`bytes` field](TensorInfo#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(
                    self,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`state` field](TensorInfo#structfield.state).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn state<T7>(
                    self,
                    value: T7,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`state` field](TensorInfo#structfield.state) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn state_as_default(
                    self,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.state(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`generation` field](TensorInfo#structfield.generation).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation<T8>(
                    self,
                    value: T8,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`generation` field](TensorInfo#structfield.generation) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation_as_default(
                    self,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.generation(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Setter for the [`user` field](TensorInfo#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T9>(
                    self,
                    value: T9,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`user` field](TensorInfo#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ::planus::DefaultValue)>
                {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`audience` field](TensorInfo#structfield.audience).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience<T10>(
                    self,
                    value: T10,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`audience` field](TensorInfo#structfield.audience) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn audience_as_default(
                    self,
                ) -> TensorInfoBuilder<(
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
                    self.audience(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Setter for the [`ephemeral` field](TensorInfo#structfield.ephemeral).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ephemeral<T11>(
                    self,
                    value: T11,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
                where
                    T11: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, value))
                }

                /// Sets the [`ephemeral` field](TensorInfo#structfield.ephemeral) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ephemeral_as_default(
                    self,
                ) -> TensorInfoBuilder<(
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
                    self.ephemeral(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11>
                TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                /// Setter for the [`created_unix_ms` field](TensorInfo#structfield.created_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms<T12>(
                    self,
                    value: T12,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12)>
                where
                    T12: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) = self.0;
                    TensorInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, value))
                }

                /// Sets the [`created_unix_ms` field](TensorInfo#structfield.created_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn created_unix_ms_as_default(
                    self,
                ) -> TensorInfoBuilder<(
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
                    ::planus::DefaultValue,
                )> {
                    self.created_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12>
                TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12)>
            {
                /// Setter for the [`slab` field](TensorInfo#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T13>(
                    self,
                    value: T13,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13)>
                where
                    T13: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12) = self.0;
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, value,
                    ))
                }

                /// Sets the [`slab` field](TensorInfo#structfield.slab) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_null(
                    self,
                ) -> TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, ())>
                {
                    self.slab(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13>
                TensorInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13)>
            {
                /// Setter for the [`slab_bytes` field](TensorInfo#structfield.slab_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_bytes<T14>(
                    self,
                    value: T14,
                ) -> TensorInfoBuilder<(
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
                    T14: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13) = self.0;
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, value,
                    ))
                }

                /// Sets the [`slab_bytes` field](TensorInfo#structfield.slab_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_bytes_as_default(
                    self,
                ) -> TensorInfoBuilder<(
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
                    ::planus::DefaultValue,
                )> {
                    self.slab_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14>
                TensorInfoBuilder<(
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
                /// Setter for the [`offset` field](TensorInfo#structfield.offset).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset<T15>(
                    self,
                    value: T15,
                ) -> TensorInfoBuilder<(
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
                    T15: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14) = self.0;
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, value,
                    ))
                }

                /// Sets the [`offset` field](TensorInfo#structfield.offset) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset_as_default(
                    self,
                ) -> TensorInfoBuilder<(
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
                    ::planus::DefaultValue,
                )> {
                    self.offset(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15>
                TensorInfoBuilder<(
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
                /// Setter for the [`leases` field](TensorInfo#structfield.leases).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases<T16>(
                    self,
                    value: T16,
                ) -> TensorInfoBuilder<(
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
                    T16: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15) =
                        self.0;
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, value,
                    ))
                }

                /// Sets the [`leases` field](TensorInfo#structfield.leases) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases_as_default(
                    self,
                ) -> TensorInfoBuilder<(
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
                    ::planus::DefaultValue,
                )> {
                    self.leases(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16>
                TensorInfoBuilder<(
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
                /// Setter for the [`ttl_ms` field](TensorInfo#structfield.ttl_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ttl_ms<T17>(
                    self,
                    value: T17,
                ) -> TensorInfoBuilder<(
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
                    T17: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16) =
                        self.0;
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        value,
                    ))
                }

                /// Sets the [`ttl_ms` field](TensorInfo#structfield.ttl_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn ttl_ms_as_null(
                    self,
                ) -> TensorInfoBuilder<(
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
                    (),
                )> {
                    self.ttl_ms(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16, T17>
                TensorInfoBuilder<(
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
                /// Setter for the [`linger_ms` field](TensorInfo#structfield.linger_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn linger_ms<T18>(
                    self,
                    value: T18,
                ) -> TensorInfoBuilder<(
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
                    T18: ::planus::WriteAsOptional<u64>,
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
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        v17, value,
                    ))
                }

                /// Sets the [`linger_ms` field](TensorInfo#structfield.linger_ms) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn linger_ms_as_null(
                    self,
                ) -> TensorInfoBuilder<(
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
                    self.linger_ms(())
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
                TensorInfoBuilder<(
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
                /// Setter for the [`accesses_left` field](TensorInfo#structfield.accesses_left).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn accesses_left<T19>(
                    self,
                    value: T19,
                ) -> TensorInfoBuilder<(
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
                    T19: ::planus::WriteAsOptional<u64>,
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
                    TensorInfoBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16,
                        v17, v18, value,
                    ))
                }

                /// Sets the [`accesses_left` field](TensorInfo#structfield.accesses_left) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn accesses_left_as_null(
                    self,
                ) -> TensorInfoBuilder<(
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
                    (),
                )> {
                    self.accesses_left(())
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
                TensorInfoBuilder<(
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
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorInfo].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorInfo>
                where
                    Self: ::planus::WriteAsOffset<TensorInfo>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u8, u8>,
                T11: ::planus::WriteAsDefault<bool, bool>,
                T12: ::planus::WriteAsDefault<u64, u64>,
                T13: ::planus::WriteAsOptional<self::Id>,
                T14: ::planus::WriteAsDefault<u64, u64>,
                T15: ::planus::WriteAsDefault<u64, u64>,
                T16: ::planus::WriteAsDefault<u32, u32>,
                T17: ::planus::WriteAsOptional<u64>,
                T18: ::planus::WriteAsOptional<u64>,
                T19: ::planus::WriteAsOptional<u64>,
            > ::planus::WriteAs<::planus::Offset<TensorInfo>>
                for TensorInfoBuilder<(
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
                type Prepared = ::planus::Offset<TensorInfo>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u8, u8>,
                T11: ::planus::WriteAsDefault<bool, bool>,
                T12: ::planus::WriteAsDefault<u64, u64>,
                T13: ::planus::WriteAsOptional<self::Id>,
                T14: ::planus::WriteAsDefault<u64, u64>,
                T15: ::planus::WriteAsDefault<u64, u64>,
                T16: ::planus::WriteAsDefault<u32, u32>,
                T17: ::planus::WriteAsOptional<u64>,
                T18: ::planus::WriteAsOptional<u64>,
                T19: ::planus::WriteAsOptional<u64>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorInfo>>
                for TensorInfoBuilder<(
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
                type Prepared = ::planus::Offset<TensorInfo>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T5: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsDefault<u8, u8>,
                T8: ::planus::WriteAsDefault<u64, u64>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u8, u8>,
                T11: ::planus::WriteAsDefault<bool, bool>,
                T12: ::planus::WriteAsDefault<u64, u64>,
                T13: ::planus::WriteAsOptional<self::Id>,
                T14: ::planus::WriteAsDefault<u64, u64>,
                T15: ::planus::WriteAsDefault<u64, u64>,
                T16: ::planus::WriteAsDefault<u32, u32>,
                T17: ::planus::WriteAsOptional<u64>,
                T18: ::planus::WriteAsOptional<u64>,
                T19: ::planus::WriteAsOptional<u64>,
            > ::planus::WriteAsOffset<TensorInfo>
                for TensorInfoBuilder<(
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
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<TensorInfo> {
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
                    ) = &self.0;
                    TensorInfo::create(
                        builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14,
                        v15, v16, v17, v18, v19,
                    )
                }
            }

            /// Reference to a deserialized [TensorInfo].
            #[derive(Copy, Clone)]
            pub struct TensorInfoRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorInfoRef<'a> {
                /// Getter for the [`tensor` field](TensorInfo#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "TensorInfo", "tensor")
                }

                /// Getter for the [`name` field](TensorInfo#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "TensorInfo", "name")
                }

                /// Getter for the [`dtype` field](TensorInfo#structfield.dtype).
                #[inline]
                pub fn dtype(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "TensorInfo", "dtype")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`shape` field](TensorInfo#structfield.shape).
                #[inline]
                pub fn shape(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(3, "TensorInfo", "shape")
                }

                /// Getter for the [`strides` field](TensorInfo#structfield.strides).
                #[inline]
                pub fn strides(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(4, "TensorInfo", "strides")
                }

                /// Getter for the [`device` field](TensorInfo#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(5, "TensorInfo", "device")
                }

                /// Getter for the [`bytes` field](TensorInfo#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(6, "TensorInfo", "bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`state` field](TensorInfo#structfield.state).
                #[inline]
                pub fn state(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "TensorInfo", "state")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`generation` field](TensorInfo#structfield.generation).
                #[inline]
                pub fn generation(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(8, "TensorInfo", "generation")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`user` field](TensorInfo#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(9, "TensorInfo", "user")?.unwrap_or(0))
                }

                /// Getter for the [`audience` field](TensorInfo#structfield.audience).
                #[inline]
                pub fn audience(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(10, "TensorInfo", "audience")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ephemeral` field](TensorInfo#structfield.ephemeral).
                #[inline]
                pub fn ephemeral(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(11, "TensorInfo", "ephemeral")?
                            .unwrap_or(false),
                    )
                }

                /// Getter for the [`created_unix_ms` field](TensorInfo#structfield.created_unix_ms).
                #[inline]
                pub fn created_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(12, "TensorInfo", "created_unix_ms")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`slab` field](TensorInfo#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(13, "TensorInfo", "slab")
                }

                /// Getter for the [`slab_bytes` field](TensorInfo#structfield.slab_bytes).
                #[inline]
                pub fn slab_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(14, "TensorInfo", "slab_bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`offset` field](TensorInfo#structfield.offset).
                #[inline]
                pub fn offset(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(15, "TensorInfo", "offset")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`leases` field](TensorInfo#structfield.leases).
                #[inline]
                pub fn leases(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(16, "TensorInfo", "leases")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`ttl_ms` field](TensorInfo#structfield.ttl_ms).
                #[inline]
                pub fn ttl_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(17, "TensorInfo", "ttl_ms")
                }

                /// Getter for the [`linger_ms` field](TensorInfo#structfield.linger_ms).
                #[inline]
                pub fn linger_ms(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(18, "TensorInfo", "linger_ms")
                }

                /// Getter for the [`accesses_left` field](TensorInfo#structfield.accesses_left).
                #[inline]
                pub fn accesses_left(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(19, "TensorInfo", "accesses_left")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorInfoRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorInfoRef");
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
                    if let ::core::option::Option::Some(field_strides) = self.strides().transpose()
                    {
                        f.field("strides", &field_strides);
                    }
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    f.field("bytes", &self.bytes());
                    f.field("state", &self.state());
                    f.field("generation", &self.generation());
                    f.field("user", &self.user());
                    f.field("audience", &self.audience());
                    f.field("ephemeral", &self.ephemeral());
                    f.field("created_unix_ms", &self.created_unix_ms());
                    if let ::core::option::Option::Some(field_slab) = self.slab().transpose() {
                        f.field("slab", &field_slab);
                    }
                    f.field("slab_bytes", &self.slab_bytes());
                    f.field("offset", &self.offset());
                    f.field("leases", &self.leases());
                    if let ::core::option::Option::Some(field_ttl_ms) = self.ttl_ms().transpose() {
                        f.field("ttl_ms", &field_ttl_ms);
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
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorInfoRef<'a>> for TensorInfo {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorInfoRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        dtype: ::core::convert::TryInto::try_into(value.dtype()?)?,
                        shape: if let ::core::option::Option::Some(shape) = value.shape()? {
                            ::core::option::Option::Some(shape.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        strides: if let ::core::option::Option::Some(strides) = value.strides()? {
                            ::core::option::Option::Some(strides.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        device: value.device()?.map(|v| v.to_vec()),
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        state: ::core::convert::TryInto::try_into(value.state()?)?,
                        generation: ::core::convert::TryInto::try_into(value.generation()?)?,
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        audience: ::core::convert::TryInto::try_into(value.audience()?)?,
                        ephemeral: ::core::convert::TryInto::try_into(value.ephemeral()?)?,
                        created_unix_ms: ::core::convert::TryInto::try_into(
                            value.created_unix_ms()?,
                        )?,
                        slab: value.slab()?.map(::core::convert::Into::into),
                        slab_bytes: ::core::convert::TryInto::try_into(value.slab_bytes()?)?,
                        offset: ::core::convert::TryInto::try_into(value.offset()?)?,
                        leases: ::core::convert::TryInto::try_into(value.leases()?)?,
                        ttl_ms: if let ::core::option::Option::Some(ttl_ms) = value.ttl_ms()? {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                ttl_ms,
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
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorInfoRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorInfoRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorInfoRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorInfo>> for TensorInfo {
                type Value = ::planus::Offset<TensorInfo>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorInfo>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorInfoRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorInfoRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorReply` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorReply` in the file `schema/wire.fbs:199`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorReply {
                /// The field `info` in the table `TensorReply`
                pub info: ::core::option::Option<::planus::alloc::boxed::Box<self::TensorInfo>>,
                /// The field `lease` in the table `TensorReply`
                pub lease: u64,
                /// The field `mode` in the table `TensorReply`
                pub mode: u8,
                /// The field `token` in the table `TensorReply`
                pub token: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorReply {
                fn default() -> Self {
                    Self {
                        info: ::core::default::Default::default(),
                        lease: 0,
                        mode: 0,
                        token: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorReply {
                /// Creates a [TensorReplyBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorReplyBuilder<()> {
                    TensorReplyBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_info: impl ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                    field_lease: impl ::planus::WriteAsDefault<u64, u64>,
                    field_mode: impl ::planus::WriteAsDefault<u8, u8>,
                    field_token: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_info = field_info.prepare(builder);
                    let prepared_lease = field_lease.prepare(builder, &0);
                    let prepared_mode = field_mode.prepare(builder, &0);
                    let prepared_token = field_token.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<12> =
                        ::core::default::Default::default();
                    if prepared_lease.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_info.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::TensorInfo>>(0);
                    }
                    if prepared_token.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(3);
                    }
                    if prepared_mode.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_lease) = prepared_lease {
                                object_writer.write::<_, _, 8>(&prepared_lease);
                            }
                            if let ::core::option::Option::Some(prepared_info) = prepared_info {
                                object_writer.write::<_, _, 4>(&prepared_info);
                            }
                            if let ::core::option::Option::Some(prepared_token) = prepared_token {
                                object_writer.write::<_, _, 4>(&prepared_token);
                            }
                            if let ::core::option::Option::Some(prepared_mode) = prepared_mode {
                                object_writer.write::<_, _, 1>(&prepared_mode);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorReply>> for TensorReply {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorReply> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorReply>> for TensorReply {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorReply>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorReply> for TensorReply {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorReply> {
                    TensorReply::create(builder, &self.info, self.lease, self.mode, &self.token)
                }
            }

            /// Builder for serializing an instance of the [TensorReply] type.
            ///
            /// Can be created using the [TensorReply::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorReplyBuilder<State>(State);

            impl TensorReplyBuilder<()> {
                /// Setter for the [`info` field](TensorReply#structfield.info).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn info<T0>(self, value: T0) -> TensorReplyBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                {
                    TensorReplyBuilder((value,))
                }

                /// Sets the [`info` field](TensorReply#structfield.info) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn info_as_null(self) -> TensorReplyBuilder<((),)> {
                    self.info(())
                }
            }

            impl<T0> TensorReplyBuilder<(T0,)> {
                /// Setter for the [`lease` field](TensorReply#structfield.lease).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease<T1>(self, value: T1) -> TensorReplyBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    TensorReplyBuilder((v0, value))
                }

                /// Sets the [`lease` field](TensorReply#structfield.lease) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lease_as_default(self) -> TensorReplyBuilder<(T0, ::planus::DefaultValue)> {
                    self.lease(::planus::DefaultValue)
                }
            }

            impl<T0, T1> TensorReplyBuilder<(T0, T1)> {
                /// Setter for the [`mode` field](TensorReply#structfield.mode).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode<T2>(self, value: T2) -> TensorReplyBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    TensorReplyBuilder((v0, v1, value))
                }

                /// Sets the [`mode` field](TensorReply#structfield.mode) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode_as_default(
                    self,
                ) -> TensorReplyBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.mode(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> TensorReplyBuilder<(T0, T1, T2)> {
                /// Setter for the [`token` field](TensorReply#structfield.token).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token<T3>(self, value: T3) -> TensorReplyBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorReplyBuilder((v0, v1, v2, value))
                }

                /// Sets the [`token` field](TensorReply#structfield.token) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn token_as_null(self) -> TensorReplyBuilder<(T0, T1, T2, ())> {
                    self.token(())
                }
            }

            impl<T0, T1, T2, T3> TensorReplyBuilder<(T0, T1, T2, T3)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorReply].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorReply>
                where
                    Self: ::planus::WriteAsOffset<TensorReply>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAs<::planus::Offset<TensorReply>>
                for TensorReplyBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<TensorReply>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorReply> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorReply>>
                for TensorReplyBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<TensorReply>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorReply>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
            > ::planus::WriteAsOffset<TensorReply> for TensorReplyBuilder<(T0, T1, T2, T3)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorReply> {
                    let (v0, v1, v2, v3) = &self.0;
                    TensorReply::create(builder, v0, v1, v2, v3)
                }
            }

            /// Reference to a deserialized [TensorReply].
            #[derive(Copy, Clone)]
            pub struct TensorReplyRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorReplyRef<'a> {
                /// Getter for the [`info` field](TensorReply#structfield.info).
                #[inline]
                pub fn info(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::TensorInfoRef<'a>>>
                {
                    self.0.access(0, "TensorReply", "info")
                }

                /// Getter for the [`lease` field](TensorReply#structfield.lease).
                #[inline]
                pub fn lease(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "TensorReply", "lease")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`mode` field](TensorReply#structfield.mode).
                #[inline]
                pub fn mode(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "TensorReply", "mode")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`token` field](TensorReply#structfield.token).
                #[inline]
                pub fn token(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(3, "TensorReply", "token")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorReplyRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorReplyRef");
                    if let ::core::option::Option::Some(field_info) = self.info().transpose() {
                        f.field("info", &field_info);
                    }
                    f.field("lease", &self.lease());
                    f.field("mode", &self.mode());
                    if let ::core::option::Option::Some(field_token) = self.token().transpose() {
                        f.field("token", &field_token);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorReplyRef<'a>> for TensorReply {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorReplyRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        info: if let ::core::option::Option::Some(info) = value.info()? {
                            ::core::option::Option::Some(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryInto::try_into(info)?,
                            ))
                        } else {
                            ::core::option::Option::None
                        },
                        lease: ::core::convert::TryInto::try_into(value.lease()?)?,
                        mode: ::core::convert::TryInto::try_into(value.mode()?)?,
                        token: value.token()?.map(|v| v.to_vec()),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorReplyRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorReplyRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorReplyRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorReply>> for TensorReply {
                type Value = ::planus::Offset<TensorReply>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorReply>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorReplyRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorReplyRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Published` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Published` in the file `schema/wire.fbs:206`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Published {
                /// The field `generation` in the table `Published`
                pub generation: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Published {
                fn default() -> Self {
                    Self { generation: 0 }
                }
            }

            impl Published {
                /// Creates a [PublishedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> PublishedBuilder<()> {
                    PublishedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_generation: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_generation = field_generation.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_generation.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_generation) =
                                prepared_generation
                            {
                                object_writer.write::<_, _, 8>(&prepared_generation);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Published>> for Published {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Published> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Published>> for Published {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Published>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Published> for Published {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Published> {
                    Published::create(builder, self.generation)
                }
            }

            /// Builder for serializing an instance of the [Published] type.
            ///
            /// Can be created using the [Published::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct PublishedBuilder<State>(State);

            impl PublishedBuilder<()> {
                /// Setter for the [`generation` field](Published#structfield.generation).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation<T0>(self, value: T0) -> PublishedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    PublishedBuilder((value,))
                }

                /// Sets the [`generation` field](Published#structfield.generation) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn generation_as_default(self) -> PublishedBuilder<(::planus::DefaultValue,)> {
                    self.generation(::planus::DefaultValue)
                }
            }

            impl<T0> PublishedBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Published].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Published>
                where
                    Self: ::planus::WriteAsOffset<Published>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAs<::planus::Offset<Published>> for PublishedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Published>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Published> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAsOptional<::planus::Offset<Published>> for PublishedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Published>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Published>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>> ::planus::WriteAsOffset<Published>
                for PublishedBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Published> {
                    let (v0,) = &self.0;
                    Published::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Published].
            #[derive(Copy, Clone)]
            pub struct PublishedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> PublishedRef<'a> {
                /// Getter for the [`generation` field](Published#structfield.generation).
                #[inline]
                pub fn generation(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(0, "Published", "generation")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for PublishedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("PublishedRef");
                    f.field("generation", &self.generation());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<PublishedRef<'a>> for Published {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: PublishedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        generation: ::core::convert::TryInto::try_into(value.generation()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for PublishedRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for PublishedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[PublishedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Published>> for Published {
                type Value = ::planus::Offset<Published>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Published>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for PublishedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[PublishedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Moved` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Moved` in the file `schema/wire.fbs:210`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Moved {
                /// The field `bytes` in the table `Moved`
                pub bytes: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Moved {
                fn default() -> Self {
                    Self { bytes: 0 }
                }
            }

            impl Moved {
                /// Creates a [MovedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> MovedBuilder<()> {
                    MovedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_bytes = field_bytes.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Moved>> for Moved {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Moved> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Moved>> for Moved {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Moved>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Moved> for Moved {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Moved> {
                    Moved::create(builder, self.bytes)
                }
            }

            /// Builder for serializing an instance of the [Moved] type.
            ///
            /// Can be created using the [Moved::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct MovedBuilder<State>(State);

            impl MovedBuilder<()> {
                /// Setter for the [`bytes` field](Moved#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T0>(self, value: T0) -> MovedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    MovedBuilder((value,))
                }

                /// Sets the [`bytes` field](Moved#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(self) -> MovedBuilder<(::planus::DefaultValue,)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0> MovedBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Moved].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Moved>
                where
                    Self: ::planus::WriteAsOffset<Moved>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>> ::planus::WriteAs<::planus::Offset<Moved>>
                for MovedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Moved>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Moved> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAsOptional<::planus::Offset<Moved>> for MovedBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Moved>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Moved>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>> ::planus::WriteAsOffset<Moved>
                for MovedBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Moved> {
                    let (v0,) = &self.0;
                    Moved::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Moved].
            #[derive(Copy, Clone)]
            pub struct MovedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> MovedRef<'a> {
                /// Getter for the [`bytes` field](Moved#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(0, "Moved", "bytes")?.unwrap_or(0))
                }
            }

            impl<'a> ::core::fmt::Debug for MovedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("MovedRef");
                    f.field("bytes", &self.bytes());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<MovedRef<'a>> for Moved {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: MovedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for MovedRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for MovedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[MovedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Moved>> for Moved {
                type Value = ::planus::Offset<Moved>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Moved>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for MovedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[MovedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Collected` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Collected` in the file `schema/wire.fbs:214`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Collected {
                /// The field `tensors` in the table `Collected`
                pub tensors: ::core::option::Option<::planus::alloc::vec::Vec<self::TensorInfo>>,
                /// The field `slabs` in the table `Collected`
                pub slabs: u32,
                /// The field `slab_bytes` in the table `Collected`
                pub slab_bytes: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Collected {
                fn default() -> Self {
                    Self {
                        tensors: ::core::default::Default::default(),
                        slabs: 0,
                        slab_bytes: 0,
                    }
                }
            }

            impl Collected {
                /// Creates a [CollectedBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> CollectedBuilder<()> {
                    CollectedBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensors: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::TensorInfo>]>,
                    >,
                    field_slabs: impl ::planus::WriteAsDefault<u32, u32>,
                    field_slab_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensors = field_tensors.prepare(builder);
                    let prepared_slabs = field_slabs.prepare(builder, &0);
                    let prepared_slab_bytes = field_slab_bytes.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<10> =
                        ::core::default::Default::default();
                    if prepared_slab_bytes.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_tensors.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>(
                                0,
                            );
                    }
                    if prepared_slabs.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_slab_bytes) =
                                prepared_slab_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_slab_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_tensors) = prepared_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_tensors);
                            }
                            if let ::core::option::Option::Some(prepared_slabs) = prepared_slabs {
                                object_writer.write::<_, _, 4>(&prepared_slabs);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Collected>> for Collected {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collected> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Collected>> for Collected {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Collected>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Collected> for Collected {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collected> {
                    Collected::create(builder, &self.tensors, self.slabs, self.slab_bytes)
                }
            }

            /// Builder for serializing an instance of the [Collected] type.
            ///
            /// Can be created using the [Collected::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct CollectedBuilder<State>(State);

            impl CollectedBuilder<()> {
                /// Setter for the [`tensors` field](Collected#structfield.tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors<T0>(self, value: T0) -> CollectedBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::TensorInfo>]>,
                        >,
                {
                    CollectedBuilder((value,))
                }

                /// Sets the [`tensors` field](Collected#structfield.tensors) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors_as_null(self) -> CollectedBuilder<((),)> {
                    self.tensors(())
                }
            }

            impl<T0> CollectedBuilder<(T0,)> {
                /// Setter for the [`slabs` field](Collected#structfield.slabs).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slabs<T1>(self, value: T1) -> CollectedBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    CollectedBuilder((v0, value))
                }

                /// Sets the [`slabs` field](Collected#structfield.slabs) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slabs_as_default(self) -> CollectedBuilder<(T0, ::planus::DefaultValue)> {
                    self.slabs(::planus::DefaultValue)
                }
            }

            impl<T0, T1> CollectedBuilder<(T0, T1)> {
                /// Setter for the [`slab_bytes` field](Collected#structfield.slab_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_bytes<T2>(self, value: T2) -> CollectedBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1) = self.0;
                    CollectedBuilder((v0, v1, value))
                }

                /// Sets the [`slab_bytes` field](Collected#structfield.slab_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_bytes_as_default(
                    self,
                ) -> CollectedBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.slab_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> CollectedBuilder<(T0, T1, T2)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Collected].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collected>
                where
                    Self: ::planus::WriteAsOffset<Collected>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<Collected>> for CollectedBuilder<(T0, T1, T2)>
            {
                type Prepared = ::planus::Offset<Collected>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collected> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<Collected>>
                for CollectedBuilder<(T0, T1, T2)>
            {
                type Prepared = ::planus::Offset<Collected>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Collected>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<Collected> for CollectedBuilder<(T0, T1, T2)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Collected> {
                    let (v0, v1, v2) = &self.0;
                    Collected::create(builder, v0, v1, v2)
                }
            }

            /// Reference to a deserialized [Collected].
            #[derive(Copy, Clone)]
            pub struct CollectedRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> CollectedRef<'a> {
                /// Getter for the [`tensors` field](Collected#structfield.tensors).
                #[inline]
                pub fn tensors(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::TensorInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(0, "Collected", "tensors")
                }

                /// Getter for the [`slabs` field](Collected#structfield.slabs).
                #[inline]
                pub fn slabs(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(1, "Collected", "slabs")?.unwrap_or(0))
                }

                /// Getter for the [`slab_bytes` field](Collected#structfield.slab_bytes).
                #[inline]
                pub fn slab_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "Collected", "slab_bytes")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for CollectedRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("CollectedRef");
                    if let ::core::option::Option::Some(field_tensors) = self.tensors().transpose()
                    {
                        f.field("tensors", &field_tensors);
                    }
                    f.field("slabs", &self.slabs());
                    f.field("slab_bytes", &self.slab_bytes());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<CollectedRef<'a>> for Collected {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: CollectedRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensors: if let ::core::option::Option::Some(tensors) = value.tensors()? {
                            ::core::option::Option::Some(tensors.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        slabs: ::core::convert::TryInto::try_into(value.slabs()?)?,
                        slab_bytes: ::core::convert::TryInto::try_into(value.slab_bytes()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for CollectedRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for CollectedRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[CollectedRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Collected>> for Collected {
                type Value = ::planus::Offset<Collected>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Collected>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for CollectedRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[CollectedRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Upgrading` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Upgrading` in the file `schema/wire.fbs:220`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Upgrading {
                /// The field `from_version` in the table `Upgrading`
                pub from_version: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `from_epoch` in the table `Upgrading`
                pub from_epoch: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Upgrading {
                fn default() -> Self {
                    Self {
                        from_version: ::core::default::Default::default(),
                        from_epoch: 0,
                    }
                }
            }

            impl Upgrading {
                /// Creates a [UpgradingBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> UpgradingBuilder<()> {
                    UpgradingBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_from_version: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_from_epoch: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_from_version = field_from_version.prepare(builder);
                    let prepared_from_epoch = field_from_epoch.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_from_epoch.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_from_version.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_from_epoch) =
                                prepared_from_epoch
                            {
                                object_writer.write::<_, _, 8>(&prepared_from_epoch);
                            }
                            if let ::core::option::Option::Some(prepared_from_version) =
                                prepared_from_version
                            {
                                object_writer.write::<_, _, 4>(&prepared_from_version);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Upgrading>> for Upgrading {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrading> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Upgrading>> for Upgrading {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Upgrading>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Upgrading> for Upgrading {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrading> {
                    Upgrading::create(builder, &self.from_version, self.from_epoch)
                }
            }

            /// Builder for serializing an instance of the [Upgrading] type.
            ///
            /// Can be created using the [Upgrading::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct UpgradingBuilder<State>(State);

            impl UpgradingBuilder<()> {
                /// Setter for the [`from_version` field](Upgrading#structfield.from_version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_version<T0>(self, value: T0) -> UpgradingBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    UpgradingBuilder((value,))
                }

                /// Sets the [`from_version` field](Upgrading#structfield.from_version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_version_as_null(self) -> UpgradingBuilder<((),)> {
                    self.from_version(())
                }
            }

            impl<T0> UpgradingBuilder<(T0,)> {
                /// Setter for the [`from_epoch` field](Upgrading#structfield.from_epoch).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_epoch<T1>(self, value: T1) -> UpgradingBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    UpgradingBuilder((v0, value))
                }

                /// Sets the [`from_epoch` field](Upgrading#structfield.from_epoch) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn from_epoch_as_default(
                    self,
                ) -> UpgradingBuilder<(T0, ::planus::DefaultValue)> {
                    self.from_epoch(::planus::DefaultValue)
                }
            }

            impl<T0, T1> UpgradingBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Upgrading].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrading>
                where
                    Self: ::planus::WriteAsOffset<Upgrading>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<Upgrading>> for UpgradingBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Upgrading>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrading> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<Upgrading>>
                for UpgradingBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Upgrading>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Upgrading>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<Upgrading> for UpgradingBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Upgrading> {
                    let (v0, v1) = &self.0;
                    Upgrading::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [Upgrading].
            #[derive(Copy, Clone)]
            pub struct UpgradingRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> UpgradingRef<'a> {
                /// Getter for the [`from_version` field](Upgrading#structfield.from_version).
                #[inline]
                pub fn from_version(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "Upgrading", "from_version")
                }

                /// Getter for the [`from_epoch` field](Upgrading#structfield.from_epoch).
                #[inline]
                pub fn from_epoch(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(1, "Upgrading", "from_epoch")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for UpgradingRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("UpgradingRef");
                    if let ::core::option::Option::Some(field_from_version) =
                        self.from_version().transpose()
                    {
                        f.field("from_version", &field_from_version);
                    }
                    f.field("from_epoch", &self.from_epoch());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<UpgradingRef<'a>> for Upgrading {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: UpgradingRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        from_version: value.from_version()?.map(::core::convert::Into::into),
                        from_epoch: ::core::convert::TryInto::try_into(value.from_epoch()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for UpgradingRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for UpgradingRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[UpgradingRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Upgrading>> for Upgrading {
                type Value = ::planus::Offset<Upgrading>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Upgrading>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for UpgradingRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[UpgradingRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `LeaseInfo` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `LeaseInfo` in the file `schema/wire.fbs:225`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct LeaseInfo {
                /// The field `tensor` in the table `LeaseInfo`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `name` in the table `LeaseInfo`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `mode` in the table `LeaseInfo`
                pub mode: u8,
                /// The field `bytes` in the table `LeaseInfo`
                pub bytes: u64,
                /// The field `since_unix_ms` in the table `LeaseInfo`
                pub since_unix_ms: u64,
                /// The field `client` in the table `LeaseInfo`
                pub client: ::core::option::Option<self::Id>,
                /// The field `pid` in the table `LeaseInfo`
                pub pid: u32,
                /// The field `program` in the table `LeaseInfo`
                pub program: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for LeaseInfo {
                fn default() -> Self {
                    Self {
                        tensor: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        mode: 0,
                        bytes: 0,
                        since_unix_ms: 0,
                        client: ::core::default::Default::default(),
                        pid: 0,
                        program: ::core::default::Default::default(),
                    }
                }
            }

            impl LeaseInfo {
                /// Creates a [LeaseInfoBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> LeaseInfoBuilder<()> {
                    LeaseInfoBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_mode: impl ::planus::WriteAsDefault<u8, u8>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_since_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_client: impl ::planus::WriteAsOptional<self::Id>,
                    field_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_program: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_mode = field_mode.prepare(builder, &0);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_since_unix_ms = field_since_unix_ms.prepare(builder, &0);
                    let prepared_client = field_client.prepare(builder);
                    let prepared_pid = field_pid.prepare(builder, &0);
                    let prepared_program = field_program.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<20> =
                        ::core::default::Default::default();
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_since_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_client.is_some() {
                        table_writer.write_entry::<self::Id>(5);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_pid.is_some() {
                        table_writer.write_entry::<u32>(6);
                    }
                    if prepared_program.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(7);
                    }
                    if prepared_mode.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_since_unix_ms) =
                                prepared_since_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_since_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_client) = prepared_client {
                                object_writer.write::<_, _, 16>(&prepared_client);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_pid) = prepared_pid {
                                object_writer.write::<_, _, 4>(&prepared_pid);
                            }
                            if let ::core::option::Option::Some(prepared_program) = prepared_program
                            {
                                object_writer.write::<_, _, 4>(&prepared_program);
                            }
                            if let ::core::option::Option::Some(prepared_mode) = prepared_mode {
                                object_writer.write::<_, _, 1>(&prepared_mode);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<LeaseInfo>> for LeaseInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<LeaseInfo>> for LeaseInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<LeaseInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<LeaseInfo> for LeaseInfo {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseInfo> {
                    LeaseInfo::create(
                        builder,
                        self.tensor,
                        &self.name,
                        self.mode,
                        self.bytes,
                        self.since_unix_ms,
                        self.client,
                        self.pid,
                        &self.program,
                    )
                }
            }

            /// Builder for serializing an instance of the [LeaseInfo] type.
            ///
            /// Can be created using the [LeaseInfo::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct LeaseInfoBuilder<State>(State);

            impl LeaseInfoBuilder<()> {
                /// Setter for the [`tensor` field](LeaseInfo#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T0>(self, value: T0) -> LeaseInfoBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    LeaseInfoBuilder((value,))
                }

                /// Sets the [`tensor` field](LeaseInfo#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> LeaseInfoBuilder<((),)> {
                    self.tensor(())
                }
            }

            impl<T0> LeaseInfoBuilder<(T0,)> {
                /// Setter for the [`name` field](LeaseInfo#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T1>(self, value: T1) -> LeaseInfoBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    LeaseInfoBuilder((v0, value))
                }

                /// Sets the [`name` field](LeaseInfo#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> LeaseInfoBuilder<(T0, ())> {
                    self.name(())
                }
            }

            impl<T0, T1> LeaseInfoBuilder<(T0, T1)> {
                /// Setter for the [`mode` field](LeaseInfo#structfield.mode).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode<T2>(self, value: T2) -> LeaseInfoBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    LeaseInfoBuilder((v0, v1, value))
                }

                /// Sets the [`mode` field](LeaseInfo#structfield.mode) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mode_as_default(self) -> LeaseInfoBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.mode(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> LeaseInfoBuilder<(T0, T1, T2)> {
                /// Setter for the [`bytes` field](LeaseInfo#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T3>(self, value: T3) -> LeaseInfoBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    LeaseInfoBuilder((v0, v1, v2, value))
                }

                /// Sets the [`bytes` field](LeaseInfo#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(
                    self,
                ) -> LeaseInfoBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> LeaseInfoBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`since_unix_ms` field](LeaseInfo#structfield.since_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms<T4>(self, value: T4) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    LeaseInfoBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`since_unix_ms` field](LeaseInfo#structfield.since_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms_as_default(
                    self,
                ) -> LeaseInfoBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.since_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> LeaseInfoBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`client` field](LeaseInfo#structfield.client).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client<T5>(self, value: T5) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    LeaseInfoBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`client` field](LeaseInfo#structfield.client) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client_as_null(self) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.client(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`pid` field](LeaseInfo#structfield.pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid<T6>(self, value: T6) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    LeaseInfoBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`pid` field](LeaseInfo#structfield.pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid_as_default(
                    self,
                ) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`program` field](LeaseInfo#structfield.program).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program<T7>(
                    self,
                    value: T7,
                ) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    LeaseInfoBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`program` field](LeaseInfo#structfield.program) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program_as_null(self) -> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, ())> {
                    self.program(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [LeaseInfo].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseInfo>
                where
                    Self: ::planus::WriteAsOffset<LeaseInfo>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsOptional<self::Id>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAs<::planus::Offset<LeaseInfo>>
                for LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<LeaseInfo>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsOptional<self::Id>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOptional<::planus::Offset<LeaseInfo>>
                for LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<LeaseInfo>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<LeaseInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsOptional<self::Id>,
                T6: ::planus::WriteAsDefault<u32, u32>,
                T7: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOffset<LeaseInfo>
                for LeaseInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<LeaseInfo> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = &self.0;
                    LeaseInfo::create(builder, v0, v1, v2, v3, v4, v5, v6, v7)
                }
            }

            /// Reference to a deserialized [LeaseInfo].
            #[derive(Copy, Clone)]
            pub struct LeaseInfoRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> LeaseInfoRef<'a> {
                /// Getter for the [`tensor` field](LeaseInfo#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "LeaseInfo", "tensor")
                }

                /// Getter for the [`name` field](LeaseInfo#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "LeaseInfo", "name")
                }

                /// Getter for the [`mode` field](LeaseInfo#structfield.mode).
                #[inline]
                pub fn mode(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(2, "LeaseInfo", "mode")?.unwrap_or(0))
                }

                /// Getter for the [`bytes` field](LeaseInfo#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(3, "LeaseInfo", "bytes")?.unwrap_or(0))
                }

                /// Getter for the [`since_unix_ms` field](LeaseInfo#structfield.since_unix_ms).
                #[inline]
                pub fn since_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "LeaseInfo", "since_unix_ms")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`client` field](LeaseInfo#structfield.client).
                #[inline]
                pub fn client(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(5, "LeaseInfo", "client")
                }

                /// Getter for the [`pid` field](LeaseInfo#structfield.pid).
                #[inline]
                pub fn pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(6, "LeaseInfo", "pid")?.unwrap_or(0))
                }

                /// Getter for the [`program` field](LeaseInfo#structfield.program).
                #[inline]
                pub fn program(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(7, "LeaseInfo", "program")
                }
            }

            impl<'a> ::core::fmt::Debug for LeaseInfoRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("LeaseInfoRef");
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("mode", &self.mode());
                    f.field("bytes", &self.bytes());
                    f.field("since_unix_ms", &self.since_unix_ms());
                    if let ::core::option::Option::Some(field_client) = self.client().transpose() {
                        f.field("client", &field_client);
                    }
                    f.field("pid", &self.pid());
                    if let ::core::option::Option::Some(field_program) = self.program().transpose()
                    {
                        f.field("program", &field_program);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<LeaseInfoRef<'a>> for LeaseInfo {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: LeaseInfoRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        mode: ::core::convert::TryInto::try_into(value.mode()?)?,
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        since_unix_ms: ::core::convert::TryInto::try_into(value.since_unix_ms()?)?,
                        client: value.client()?.map(::core::convert::Into::into),
                        pid: ::core::convert::TryInto::try_into(value.pid()?)?,
                        program: value.program()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for LeaseInfoRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for LeaseInfoRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[LeaseInfoRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<LeaseInfo>> for LeaseInfo {
                type Value = ::planus::Offset<LeaseInfo>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<LeaseInfo>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for LeaseInfoRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[LeaseInfoRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `TensorDetails` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `TensorDetails` in the file `schema/wire.fbs:236`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct TensorDetails {
                /// The field `info` in the table `TensorDetails`
                pub info: ::core::option::Option<::planus::alloc::boxed::Box<self::TensorInfo>>,
                /// The field `leases` in the table `TensorDetails`
                pub leases: ::core::option::Option<::planus::alloc::vec::Vec<self::LeaseInfo>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for TensorDetails {
                fn default() -> Self {
                    Self {
                        info: ::core::default::Default::default(),
                        leases: ::core::default::Default::default(),
                    }
                }
            }

            impl TensorDetails {
                /// Creates a [TensorDetailsBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorDetailsBuilder<()> {
                    TensorDetailsBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_info: impl ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                    field_leases: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::LeaseInfo>]>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_info = field_info.prepare(builder);
                    let prepared_leases = field_leases.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_info.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::TensorInfo>>(0);
                    }
                    if prepared_leases.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>(
                                1,
                            );
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_info) = prepared_info {
                                object_writer.write::<_, _, 4>(&prepared_info);
                            }
                            if let ::core::option::Option::Some(prepared_leases) = prepared_leases {
                                object_writer.write::<_, _, 4>(&prepared_leases);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<TensorDetails>> for TensorDetails {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDetails> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<TensorDetails>> for TensorDetails {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorDetails>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<TensorDetails> for TensorDetails {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDetails> {
                    TensorDetails::create(builder, &self.info, &self.leases)
                }
            }

            /// Builder for serializing an instance of the [TensorDetails] type.
            ///
            /// Can be created using the [TensorDetails::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorDetailsBuilder<State>(State);

            impl TensorDetailsBuilder<()> {
                /// Setter for the [`info` field](TensorDetails#structfield.info).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn info<T0>(self, value: T0) -> TensorDetailsBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                {
                    TensorDetailsBuilder((value,))
                }

                /// Sets the [`info` field](TensorDetails#structfield.info) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn info_as_null(self) -> TensorDetailsBuilder<((),)> {
                    self.info(())
                }
            }

            impl<T0> TensorDetailsBuilder<(T0,)> {
                /// Setter for the [`leases` field](TensorDetails#structfield.leases).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases<T1>(self, value: T1) -> TensorDetailsBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::LeaseInfo>]>,
                        >,
                {
                    let (v0,) = self.0;
                    TensorDetailsBuilder((v0, value))
                }

                /// Sets the [`leases` field](TensorDetails#structfield.leases) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases_as_null(self) -> TensorDetailsBuilder<(T0, ())> {
                    self.leases(())
                }
            }

            impl<T0, T1> TensorDetailsBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [TensorDetails].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDetails>
                where
                    Self: ::planus::WriteAsOffset<TensorDetails>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>,
            > ::planus::WriteAs<::planus::Offset<TensorDetails>>
                for TensorDetailsBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<TensorDetails>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDetails> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>,
            > ::planus::WriteAsOptional<::planus::Offset<TensorDetails>>
                for TensorDetailsBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<TensorDetails>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<TensorDetails>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<self::TensorInfo>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>,
            > ::planus::WriteAsOffset<TensorDetails> for TensorDetailsBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::Offset<TensorDetails> {
                    let (v0, v1) = &self.0;
                    TensorDetails::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [TensorDetails].
            #[derive(Copy, Clone)]
            pub struct TensorDetailsRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorDetailsRef<'a> {
                /// Getter for the [`info` field](TensorDetails#structfield.info).
                #[inline]
                pub fn info(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::TensorInfoRef<'a>>>
                {
                    self.0.access(0, "TensorDetails", "info")
                }

                /// Getter for the [`leases` field](TensorDetails#structfield.leases).
                #[inline]
                pub fn leases(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::LeaseInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(1, "TensorDetails", "leases")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorDetailsRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorDetailsRef");
                    if let ::core::option::Option::Some(field_info) = self.info().transpose() {
                        f.field("info", &field_info);
                    }
                    if let ::core::option::Option::Some(field_leases) = self.leases().transpose() {
                        f.field("leases", &field_leases);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorDetailsRef<'a>> for TensorDetails {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorDetailsRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        info: if let ::core::option::Option::Some(info) = value.info()? {
                            ::core::option::Option::Some(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryInto::try_into(info)?,
                            ))
                        } else {
                            ::core::option::Option::None
                        },
                        leases: if let ::core::option::Option::Some(leases) = value.leases()? {
                            ::core::option::Option::Some(leases.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorDetailsRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorDetailsRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorDetailsRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<TensorDetails>> for TensorDetails {
                type Value = ::planus::Offset<TensorDetails>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<TensorDetails>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorDetailsRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorDetailsRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Tensors` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Tensors` in the file `schema/wire.fbs:241`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Tensors {
                /// The field `tensors` in the table `Tensors`
                pub tensors: ::core::option::Option<::planus::alloc::vec::Vec<self::TensorInfo>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Tensors {
                fn default() -> Self {
                    Self {
                        tensors: ::core::default::Default::default(),
                    }
                }
            }

            impl Tensors {
                /// Creates a [TensorsBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorsBuilder<()> {
                    TensorsBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_tensors: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::TensorInfo>]>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_tensors = field_tensors.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_tensors.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>(
                                0,
                            );
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_tensors) = prepared_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_tensors);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Tensors>> for Tensors {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensors> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Tensors>> for Tensors {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Tensors>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Tensors> for Tensors {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensors> {
                    Tensors::create(builder, &self.tensors)
                }
            }

            /// Builder for serializing an instance of the [Tensors] type.
            ///
            /// Can be created using the [Tensors::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorsBuilder<State>(State);

            impl TensorsBuilder<()> {
                /// Setter for the [`tensors` field](Tensors#structfield.tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors<T0>(self, value: T0) -> TensorsBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::TensorInfo>]>,
                        >,
                {
                    TensorsBuilder((value,))
                }

                /// Sets the [`tensors` field](Tensors#structfield.tensors) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors_as_null(self) -> TensorsBuilder<((),)> {
                    self.tensors(())
                }
            }

            impl<T0> TensorsBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Tensors].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensors>
                where
                    Self: ::planus::WriteAsOffset<Tensors>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>,
            > ::planus::WriteAs<::planus::Offset<Tensors>> for TensorsBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Tensors>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensors> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>,
            > ::planus::WriteAsOptional<::planus::Offset<Tensors>> for TensorsBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Tensors>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Tensors>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::TensorInfo>]>>,
            > ::planus::WriteAsOffset<Tensors> for TensorsBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensors> {
                    let (v0,) = &self.0;
                    Tensors::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Tensors].
            #[derive(Copy, Clone)]
            pub struct TensorsRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorsRef<'a> {
                /// Getter for the [`tensors` field](Tensors#structfield.tensors).
                #[inline]
                pub fn tensors(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::TensorInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(0, "Tensors", "tensors")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorsRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorsRef");
                    if let ::core::option::Option::Some(field_tensors) = self.tensors().transpose()
                    {
                        f.field("tensors", &field_tensors);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorsRef<'a>> for Tensors {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorsRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        tensors: if let ::core::option::Option::Some(tensors) = value.tensors()? {
                            ::core::option::Option::Some(tensors.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorsRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorsRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorsRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Tensors>> for Tensors {
                type Value = ::planus::Offset<Tensors>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Tensors>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorsRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorsRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `ClientInfo` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `ClientInfo` in the file `schema/wire.fbs:245`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct ClientInfo {
                /// The field `client` in the table `ClientInfo`
                pub client: ::core::option::Option<self::Id>,
                /// The field `pid` in the table `ClientInfo`
                pub pid: u32,
                /// The field `user` in the table `ClientInfo`
                pub user: u32,
                /// The field `program` in the table `ClientInfo`
                pub program: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `since_unix_ms` in the table `ClientInfo`
                pub since_unix_ms: u64,
                /// The field `silent` in the table `ClientInfo`
                pub silent: bool,
                /// The field `leases` in the table `ClientInfo`
                pub leases: ::core::option::Option<::planus::alloc::vec::Vec<self::LeaseInfo>>,
                /// The field `mover` in the table `ClientInfo`
                pub mover: bool,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for ClientInfo {
                fn default() -> Self {
                    Self {
                        client: ::core::default::Default::default(),
                        pid: 0,
                        user: 0,
                        program: ::core::default::Default::default(),
                        since_unix_ms: 0,
                        silent: false,
                        leases: ::core::default::Default::default(),
                        mover: false,
                    }
                }
            }

            impl ClientInfo {
                /// Creates a [ClientInfoBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClientInfoBuilder<()> {
                    ClientInfoBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_client: impl ::planus::WriteAsOptional<self::Id>,
                    field_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_program: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_since_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_silent: impl ::planus::WriteAsDefault<bool, bool>,
                    field_leases: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::LeaseInfo>]>,
                    >,
                    field_mover: impl ::planus::WriteAsDefault<bool, bool>,
                ) -> ::planus::Offset<Self> {
                    let prepared_client = field_client.prepare(builder);
                    let prepared_pid = field_pid.prepare(builder, &0);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_program = field_program.prepare(builder);
                    let prepared_since_unix_ms = field_since_unix_ms.prepare(builder, &0);
                    let prepared_silent = field_silent.prepare(builder, &false);
                    let prepared_leases = field_leases.prepare(builder);
                    let prepared_mover = field_mover.prepare(builder, &false);

                    let mut table_writer: ::planus::table_writer::TableWriter<20> =
                        ::core::default::Default::default();
                    if prepared_client.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_since_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_pid.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(2);
                    }
                    if prepared_program.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(3);
                    }
                    if prepared_leases.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>(
                                6,
                            );
                    }
                    if prepared_silent.is_some() {
                        table_writer.write_entry::<bool>(5);
                    }
                    if prepared_mover.is_some() {
                        table_writer.write_entry::<bool>(7);
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
                            if let ::core::option::Option::Some(prepared_program) = prepared_program
                            {
                                object_writer.write::<_, _, 4>(&prepared_program);
                            }
                            if let ::core::option::Option::Some(prepared_leases) = prepared_leases {
                                object_writer.write::<_, _, 4>(&prepared_leases);
                            }
                            if let ::core::option::Option::Some(prepared_silent) = prepared_silent {
                                object_writer.write::<_, _, 1>(&prepared_silent);
                            }
                            if let ::core::option::Option::Some(prepared_mover) = prepared_mover {
                                object_writer.write::<_, _, 1>(&prepared_mover);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<ClientInfo>> for ClientInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<ClientInfo>> for ClientInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<ClientInfo> for ClientInfo {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientInfo> {
                    ClientInfo::create(
                        builder,
                        self.client,
                        self.pid,
                        self.user,
                        &self.program,
                        self.since_unix_ms,
                        self.silent,
                        &self.leases,
                        self.mover,
                    )
                }
            }

            /// Builder for serializing an instance of the [ClientInfo] type.
            ///
            /// Can be created using the [ClientInfo::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClientInfoBuilder<State>(State);

            impl ClientInfoBuilder<()> {
                /// Setter for the [`client` field](ClientInfo#structfield.client).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client<T0>(self, value: T0) -> ClientInfoBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    ClientInfoBuilder((value,))
                }

                /// Sets the [`client` field](ClientInfo#structfield.client) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn client_as_null(self) -> ClientInfoBuilder<((),)> {
                    self.client(())
                }
            }

            impl<T0> ClientInfoBuilder<(T0,)> {
                /// Setter for the [`pid` field](ClientInfo#structfield.pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid<T1>(self, value: T1) -> ClientInfoBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    ClientInfoBuilder((v0, value))
                }

                /// Sets the [`pid` field](ClientInfo#structfield.pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid_as_default(self) -> ClientInfoBuilder<(T0, ::planus::DefaultValue)> {
                    self.pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1> ClientInfoBuilder<(T0, T1)> {
                /// Setter for the [`user` field](ClientInfo#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T2>(self, value: T2) -> ClientInfoBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1) = self.0;
                    ClientInfoBuilder((v0, v1, value))
                }

                /// Sets the [`user` field](ClientInfo#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> ClientInfoBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> ClientInfoBuilder<(T0, T1, T2)> {
                /// Setter for the [`program` field](ClientInfo#structfield.program).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program<T3>(self, value: T3) -> ClientInfoBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2) = self.0;
                    ClientInfoBuilder((v0, v1, v2, value))
                }

                /// Sets the [`program` field](ClientInfo#structfield.program) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program_as_null(self) -> ClientInfoBuilder<(T0, T1, T2, ())> {
                    self.program(())
                }
            }

            impl<T0, T1, T2, T3> ClientInfoBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`since_unix_ms` field](ClientInfo#structfield.since_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms<T4>(self, value: T4) -> ClientInfoBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    ClientInfoBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`since_unix_ms` field](ClientInfo#structfield.since_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn since_unix_ms_as_default(
                    self,
                ) -> ClientInfoBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.since_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> ClientInfoBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`silent` field](ClientInfo#structfield.silent).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn silent<T5>(self, value: T5) -> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    ClientInfoBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`silent` field](ClientInfo#structfield.silent) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn silent_as_default(
                    self,
                ) -> ClientInfoBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.silent(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`leases` field](ClientInfo#structfield.leases).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases<T6>(
                    self,
                    value: T6,
                ) -> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::LeaseInfo>]>,
                        >,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    ClientInfoBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`leases` field](ClientInfo#structfield.leases) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases_as_null(self) -> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.leases(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`mover` field](ClientInfo#structfield.mover).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mover<T7>(
                    self,
                    value: T7,
                ) -> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    ClientInfoBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`mover` field](ClientInfo#structfield.mover) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn mover_as_default(
                    self,
                ) -> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.mover(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [ClientInfo].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientInfo>
                where
                    Self: ::planus::WriteAsOffset<ClientInfo>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<bool, bool>,
                T6: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>,
                T7: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAs<::planus::Offset<ClientInfo>>
                for ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<ClientInfo>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<bool, bool>,
                T6: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>,
                T7: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOptional<::planus::Offset<ClientInfo>>
                for ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<ClientInfo>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<ClientInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<bool, bool>,
                T6: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::LeaseInfo>]>>,
                T7: ::planus::WriteAsDefault<bool, bool>,
            > ::planus::WriteAsOffset<ClientInfo>
                for ClientInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<ClientInfo> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = &self.0;
                    ClientInfo::create(builder, v0, v1, v2, v3, v4, v5, v6, v7)
                }
            }

            /// Reference to a deserialized [ClientInfo].
            #[derive(Copy, Clone)]
            pub struct ClientInfoRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClientInfoRef<'a> {
                /// Getter for the [`client` field](ClientInfo#structfield.client).
                #[inline]
                pub fn client(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "ClientInfo", "client")
                }

                /// Getter for the [`pid` field](ClientInfo#structfield.pid).
                #[inline]
                pub fn pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(1, "ClientInfo", "pid")?.unwrap_or(0))
                }

                /// Getter for the [`user` field](ClientInfo#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(2, "ClientInfo", "user")?.unwrap_or(0))
                }

                /// Getter for the [`program` field](ClientInfo#structfield.program).
                #[inline]
                pub fn program(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(3, "ClientInfo", "program")
                }

                /// Getter for the [`since_unix_ms` field](ClientInfo#structfield.since_unix_ms).
                #[inline]
                pub fn since_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(4, "ClientInfo", "since_unix_ms")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`silent` field](ClientInfo#structfield.silent).
                #[inline]
                pub fn silent(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "ClientInfo", "silent")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`leases` field](ClientInfo#structfield.leases).
                #[inline]
                pub fn leases(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::LeaseInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(6, "ClientInfo", "leases")
                }

                /// Getter for the [`mover` field](ClientInfo#structfield.mover).
                #[inline]
                pub fn mover(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "ClientInfo", "mover")?.unwrap_or(false),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for ClientInfoRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClientInfoRef");
                    if let ::core::option::Option::Some(field_client) = self.client().transpose() {
                        f.field("client", &field_client);
                    }
                    f.field("pid", &self.pid());
                    f.field("user", &self.user());
                    if let ::core::option::Option::Some(field_program) = self.program().transpose()
                    {
                        f.field("program", &field_program);
                    }
                    f.field("since_unix_ms", &self.since_unix_ms());
                    f.field("silent", &self.silent());
                    if let ::core::option::Option::Some(field_leases) = self.leases().transpose() {
                        f.field("leases", &field_leases);
                    }
                    f.field("mover", &self.mover());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClientInfoRef<'a>> for ClientInfo {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ClientInfoRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        client: value.client()?.map(::core::convert::Into::into),
                        pid: ::core::convert::TryInto::try_into(value.pid()?)?,
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        program: value.program()?.map(::core::convert::Into::into),
                        since_unix_ms: ::core::convert::TryInto::try_into(value.since_unix_ms()?)?,
                        silent: ::core::convert::TryInto::try_into(value.silent()?)?,
                        leases: if let ::core::option::Option::Some(leases) = value.leases()? {
                            ::core::option::Option::Some(leases.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        mover: ::core::convert::TryInto::try_into(value.mover()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClientInfoRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ClientInfoRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClientInfoRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<ClientInfo>> for ClientInfo {
                type Value = ::planus::Offset<ClientInfo>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<ClientInfo>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ClientInfoRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClientInfoRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Clients` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Clients` in the file `schema/wire.fbs:257`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Clients {
                /// The field `clients` in the table `Clients`
                pub clients: ::core::option::Option<::planus::alloc::vec::Vec<self::ClientInfo>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Clients {
                fn default() -> Self {
                    Self {
                        clients: ::core::default::Default::default(),
                    }
                }
            }

            impl Clients {
                /// Creates a [ClientsBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ClientsBuilder<()> {
                    ClientsBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_clients: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::ClientInfo>]>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_clients = field_clients.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_clients.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::ClientInfo>]>>(
                                0,
                            );
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_clients) = prepared_clients
                            {
                                object_writer.write::<_, _, 4>(&prepared_clients);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Clients>> for Clients {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Clients> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Clients>> for Clients {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Clients>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Clients> for Clients {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Clients> {
                    Clients::create(builder, &self.clients)
                }
            }

            /// Builder for serializing an instance of the [Clients] type.
            ///
            /// Can be created using the [Clients::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ClientsBuilder<State>(State);

            impl ClientsBuilder<()> {
                /// Setter for the [`clients` field](Clients#structfield.clients).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn clients<T0>(self, value: T0) -> ClientsBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::ClientInfo>]>,
                        >,
                {
                    ClientsBuilder((value,))
                }

                /// Sets the [`clients` field](Clients#structfield.clients) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn clients_as_null(self) -> ClientsBuilder<((),)> {
                    self.clients(())
                }
            }

            impl<T0> ClientsBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Clients].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Clients>
                where
                    Self: ::planus::WriteAsOffset<Clients>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::ClientInfo>]>>,
            > ::planus::WriteAs<::planus::Offset<Clients>> for ClientsBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Clients>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Clients> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::ClientInfo>]>>,
            > ::planus::WriteAsOptional<::planus::Offset<Clients>> for ClientsBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<Clients>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Clients>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::ClientInfo>]>>,
            > ::planus::WriteAsOffset<Clients> for ClientsBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Clients> {
                    let (v0,) = &self.0;
                    Clients::create(builder, v0)
                }
            }

            /// Reference to a deserialized [Clients].
            #[derive(Copy, Clone)]
            pub struct ClientsRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ClientsRef<'a> {
                /// Getter for the [`clients` field](Clients#structfield.clients).
                #[inline]
                pub fn clients(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::ClientInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(0, "Clients", "clients")
                }
            }

            impl<'a> ::core::fmt::Debug for ClientsRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ClientsRef");
                    if let ::core::option::Option::Some(field_clients) = self.clients().transpose()
                    {
                        f.field("clients", &field_clients);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ClientsRef<'a>> for Clients {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ClientsRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        clients: if let ::core::option::Option::Some(clients) = value.clients()? {
                            ::core::option::Option::Some(clients.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ClientsRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ClientsRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ClientsRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Clients>> for Clients {
                type Value = ::planus::Offset<Clients>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Clients>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ClientsRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ClientsRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `DeviceInfo` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `DeviceInfo` in the file `schema/wire.fbs:261`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct DeviceInfo {
                /// The field `device` in the table `DeviceInfo`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `name` in the table `DeviceInfo`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `total_bytes` in the table `DeviceInfo`
                pub total_bytes: u64,
                /// The field `capacity_bytes` in the table `DeviceInfo`
                pub capacity_bytes: u64,
                /// The field `slab_bytes` in the table `DeviceInfo`
                pub slab_bytes: u64,
                /// The field `tensor_bytes` in the table `DeviceInfo`
                pub tensor_bytes: u64,
                /// The field `recycled_bytes` in the table `DeviceInfo`
                pub recycled_bytes: u64,
                /// The field `physical_used_bytes` in the table `DeviceInfo`
                pub physical_used_bytes: ::core::option::Option<u64>,
                /// The field `slabs` in the table `DeviceInfo`
                pub slabs: u32,
                /// The field `tensors` in the table `DeviceInfo`
                pub tensors: u32,
                /// The field `index` in the table `DeviceInfo`
                pub index: u32,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for DeviceInfo {
                fn default() -> Self {
                    Self {
                        device: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        total_bytes: 0,
                        capacity_bytes: 0,
                        slab_bytes: 0,
                        tensor_bytes: 0,
                        recycled_bytes: 0,
                        physical_used_bytes: ::core::default::Default::default(),
                        slabs: 0,
                        tensors: 0,
                        index: 0,
                    }
                }
            }

            impl DeviceInfo {
                /// Creates a [DeviceInfoBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> DeviceInfoBuilder<()> {
                    DeviceInfoBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_total_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_capacity_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_slab_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_tensor_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_recycled_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_physical_used_bytes: impl ::planus::WriteAsOptional<u64>,
                    field_slabs: impl ::planus::WriteAsDefault<u32, u32>,
                    field_tensors: impl ::planus::WriteAsDefault<u32, u32>,
                    field_index: impl ::planus::WriteAsDefault<u32, u32>,
                ) -> ::planus::Offset<Self> {
                    let prepared_device = field_device.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_total_bytes = field_total_bytes.prepare(builder, &0);
                    let prepared_capacity_bytes = field_capacity_bytes.prepare(builder, &0);
                    let prepared_slab_bytes = field_slab_bytes.prepare(builder, &0);
                    let prepared_tensor_bytes = field_tensor_bytes.prepare(builder, &0);
                    let prepared_recycled_bytes = field_recycled_bytes.prepare(builder, &0);
                    let prepared_physical_used_bytes = field_physical_used_bytes.prepare(builder);
                    let prepared_slabs = field_slabs.prepare(builder, &0);
                    let prepared_tensors = field_tensors.prepare(builder, &0);
                    let prepared_index = field_index.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<26> =
                        ::core::default::Default::default();
                    if prepared_total_bytes.is_some() {
                        table_writer.write_entry::<u64>(2);
                    }
                    if prepared_capacity_bytes.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_slab_bytes.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_tensor_bytes.is_some() {
                        table_writer.write_entry::<u64>(5);
                    }
                    if prepared_recycled_bytes.is_some() {
                        table_writer.write_entry::<u64>(6);
                    }
                    if prepared_physical_used_bytes.is_some() {
                        table_writer.write_entry::<u64>(7);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(0);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_slabs.is_some() {
                        table_writer.write_entry::<u32>(8);
                    }
                    if prepared_tensors.is_some() {
                        table_writer.write_entry::<u32>(9);
                    }
                    if prepared_index.is_some() {
                        table_writer.write_entry::<u32>(10);
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
                            if let ::core::option::Option::Some(prepared_slab_bytes) =
                                prepared_slab_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_slab_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_tensor_bytes) =
                                prepared_tensor_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_tensor_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_recycled_bytes) =
                                prepared_recycled_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_recycled_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_physical_used_bytes) =
                                prepared_physical_used_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_physical_used_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_slabs) = prepared_slabs {
                                object_writer.write::<_, _, 4>(&prepared_slabs);
                            }
                            if let ::core::option::Option::Some(prepared_tensors) = prepared_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_tensors);
                            }
                            if let ::core::option::Option::Some(prepared_index) = prepared_index {
                                object_writer.write::<_, _, 4>(&prepared_index);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<DeviceInfo>> for DeviceInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<DeviceInfo>> for DeviceInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<DeviceInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<DeviceInfo> for DeviceInfo {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceInfo> {
                    DeviceInfo::create(
                        builder,
                        &self.device,
                        &self.name,
                        self.total_bytes,
                        self.capacity_bytes,
                        self.slab_bytes,
                        self.tensor_bytes,
                        self.recycled_bytes,
                        self.physical_used_bytes,
                        self.slabs,
                        self.tensors,
                        self.index,
                    )
                }
            }

            /// Builder for serializing an instance of the [DeviceInfo] type.
            ///
            /// Can be created using the [DeviceInfo::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct DeviceInfoBuilder<State>(State);

            impl DeviceInfoBuilder<()> {
                /// Setter for the [`device` field](DeviceInfo#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T0>(self, value: T0) -> DeviceInfoBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    DeviceInfoBuilder((value,))
                }

                /// Sets the [`device` field](DeviceInfo#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> DeviceInfoBuilder<((),)> {
                    self.device(())
                }
            }

            impl<T0> DeviceInfoBuilder<(T0,)> {
                /// Setter for the [`name` field](DeviceInfo#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T1>(self, value: T1) -> DeviceInfoBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    DeviceInfoBuilder((v0, value))
                }

                /// Sets the [`name` field](DeviceInfo#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> DeviceInfoBuilder<(T0, ())> {
                    self.name(())
                }
            }

            impl<T0, T1> DeviceInfoBuilder<(T0, T1)> {
                /// Setter for the [`total_bytes` field](DeviceInfo#structfield.total_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn total_bytes<T2>(self, value: T2) -> DeviceInfoBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1) = self.0;
                    DeviceInfoBuilder((v0, v1, value))
                }

                /// Sets the [`total_bytes` field](DeviceInfo#structfield.total_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn total_bytes_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.total_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> DeviceInfoBuilder<(T0, T1, T2)> {
                /// Setter for the [`capacity_bytes` field](DeviceInfo#structfield.capacity_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capacity_bytes<T3>(self, value: T3) -> DeviceInfoBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, value))
                }

                /// Sets the [`capacity_bytes` field](DeviceInfo#structfield.capacity_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capacity_bytes_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.capacity_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> DeviceInfoBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`slab_bytes` field](DeviceInfo#structfield.slab_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_bytes<T4>(self, value: T4) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`slab_bytes` field](DeviceInfo#structfield.slab_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_bytes_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.slab_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> DeviceInfoBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`tensor_bytes` field](DeviceInfo#structfield.tensor_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_bytes<T5>(
                    self,
                    value: T5,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`tensor_bytes` field](DeviceInfo#structfield.tensor_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_bytes_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)>
                {
                    self.tensor_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`recycled_bytes` field](DeviceInfo#structfield.recycled_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn recycled_bytes<T6>(
                    self,
                    value: T6,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`recycled_bytes` field](DeviceInfo#structfield.recycled_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn recycled_bytes_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.recycled_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`physical_used_bytes` field](DeviceInfo#structfield.physical_used_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn physical_used_bytes<T7>(
                    self,
                    value: T7,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`physical_used_bytes` field](DeviceInfo#structfield.physical_used_bytes) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn physical_used_bytes_as_null(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, ())> {
                    self.physical_used_bytes(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`slabs` field](DeviceInfo#structfield.slabs).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slabs<T8>(
                    self,
                    value: T8,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`slabs` field](DeviceInfo#structfield.slabs) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slabs_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ::planus::DefaultValue)>
                {
                    self.slabs(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Setter for the [`tensors` field](DeviceInfo#structfield.tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors<T9>(
                    self,
                    value: T9,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`tensors` field](DeviceInfo#structfield.tensors) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors_as_default(
                    self,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ::planus::DefaultValue)>
                {
                    self.tensors(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`index` field](DeviceInfo#structfield.index).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn index<T10>(
                    self,
                    value: T10,
                ) -> DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    DeviceInfoBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`index` field](DeviceInfo#structfield.index) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn index_as_default(
                    self,
                ) -> DeviceInfoBuilder<(
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
                    self.index(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [DeviceInfo].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceInfo>
                where
                    Self: ::planus::WriteAsOffset<DeviceInfo>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsOptional<u64>,
                T8: ::planus::WriteAsDefault<u32, u32>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAs<::planus::Offset<DeviceInfo>>
                for DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                type Prepared = ::planus::Offset<DeviceInfo>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsOptional<u64>,
                T8: ::planus::WriteAsDefault<u32, u32>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAsOptional<::planus::Offset<DeviceInfo>>
                for DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                type Prepared = ::planus::Offset<DeviceInfo>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<DeviceInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsDefault<u64, u64>,
                T3: ::planus::WriteAsDefault<u64, u64>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsDefault<u64, u64>,
                T7: ::planus::WriteAsOptional<u64>,
                T8: ::planus::WriteAsDefault<u32, u32>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAsOffset<DeviceInfo>
                for DeviceInfoBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<DeviceInfo> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = &self.0;
                    DeviceInfo::create(builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10)
                }
            }

            /// Reference to a deserialized [DeviceInfo].
            #[derive(Copy, Clone)]
            pub struct DeviceInfoRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> DeviceInfoRef<'a> {
                /// Getter for the [`device` field](DeviceInfo#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(0, "DeviceInfo", "device")
                }

                /// Getter for the [`name` field](DeviceInfo#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "DeviceInfo", "name")
                }

                /// Getter for the [`total_bytes` field](DeviceInfo#structfield.total_bytes).
                #[inline]
                pub fn total_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(2, "DeviceInfo", "total_bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`capacity_bytes` field](DeviceInfo#structfield.capacity_bytes).
                #[inline]
                pub fn capacity_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(3, "DeviceInfo", "capacity_bytes")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`slab_bytes` field](DeviceInfo#structfield.slab_bytes).
                #[inline]
                pub fn slab_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "DeviceInfo", "slab_bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`tensor_bytes` field](DeviceInfo#structfield.tensor_bytes).
                #[inline]
                pub fn tensor_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(5, "DeviceInfo", "tensor_bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`recycled_bytes` field](DeviceInfo#structfield.recycled_bytes).
                #[inline]
                pub fn recycled_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0
                            .access(6, "DeviceInfo", "recycled_bytes")?
                            .unwrap_or(0),
                    )
                }

                /// Getter for the [`physical_used_bytes` field](DeviceInfo#structfield.physical_used_bytes).
                #[inline]
                pub fn physical_used_bytes(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(7, "DeviceInfo", "physical_used_bytes")
                }

                /// Getter for the [`slabs` field](DeviceInfo#structfield.slabs).
                #[inline]
                pub fn slabs(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(8, "DeviceInfo", "slabs")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`tensors` field](DeviceInfo#structfield.tensors).
                #[inline]
                pub fn tensors(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(9, "DeviceInfo", "tensors")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`index` field](DeviceInfo#structfield.index).
                #[inline]
                pub fn index(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(10, "DeviceInfo", "index")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for DeviceInfoRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("DeviceInfoRef");
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("total_bytes", &self.total_bytes());
                    f.field("capacity_bytes", &self.capacity_bytes());
                    f.field("slab_bytes", &self.slab_bytes());
                    f.field("tensor_bytes", &self.tensor_bytes());
                    f.field("recycled_bytes", &self.recycled_bytes());
                    if let ::core::option::Option::Some(field_physical_used_bytes) =
                        self.physical_used_bytes().transpose()
                    {
                        f.field("physical_used_bytes", &field_physical_used_bytes);
                    }
                    f.field("slabs", &self.slabs());
                    f.field("tensors", &self.tensors());
                    f.field("index", &self.index());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<DeviceInfoRef<'a>> for DeviceInfo {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: DeviceInfoRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        device: value.device()?.map(|v| v.to_vec()),
                        name: value.name()?.map(::core::convert::Into::into),
                        total_bytes: ::core::convert::TryInto::try_into(value.total_bytes()?)?,
                        capacity_bytes: ::core::convert::TryInto::try_into(
                            value.capacity_bytes()?,
                        )?,
                        slab_bytes: ::core::convert::TryInto::try_into(value.slab_bytes()?)?,
                        tensor_bytes: ::core::convert::TryInto::try_into(value.tensor_bytes()?)?,
                        recycled_bytes: ::core::convert::TryInto::try_into(
                            value.recycled_bytes()?,
                        )?,
                        physical_used_bytes: if let ::core::option::Option::Some(
                            physical_used_bytes,
                        ) = value.physical_used_bytes()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                physical_used_bytes,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        slabs: ::core::convert::TryInto::try_into(value.slabs()?)?,
                        tensors: ::core::convert::TryInto::try_into(value.tensors()?)?,
                        index: ::core::convert::TryInto::try_into(value.index()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for DeviceInfoRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for DeviceInfoRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[DeviceInfoRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<DeviceInfo>> for DeviceInfo {
                type Value = ::planus::Offset<DeviceInfo>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<DeviceInfo>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for DeviceInfoRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[DeviceInfoRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `MoverInfo` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `MoverInfo` in the file `schema/wire.fbs:278`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct MoverInfo {
                /// The field `device` in the table `MoverInfo`
                pub device: ::core::option::Option<::planus::alloc::vec::Vec<u8>>,
                /// The field `pid` in the table `MoverInfo`
                pub pid: u32,
                /// The field `moves` in the table `MoverInfo`
                pub moves: u32,
                /// The field `moved_bytes` in the table `MoverInfo`
                pub moved_bytes: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for MoverInfo {
                fn default() -> Self {
                    Self {
                        device: ::core::default::Default::default(),
                        pid: 0,
                        moves: 0,
                        moved_bytes: 0,
                    }
                }
            }

            impl MoverInfo {
                /// Creates a [MoverInfoBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> MoverInfoBuilder<()> {
                    MoverInfoBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_device: impl ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                    field_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_moves: impl ::planus::WriteAsDefault<u32, u32>,
                    field_moved_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_device = field_device.prepare(builder);
                    let prepared_pid = field_pid.prepare(builder, &0);
                    let prepared_moves = field_moves.prepare(builder, &0);
                    let prepared_moved_bytes = field_moved_bytes.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<12> =
                        ::core::default::Default::default();
                    if prepared_moved_bytes.is_some() {
                        table_writer.write_entry::<u64>(3);
                    }
                    if prepared_device.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u8]>>(0);
                    }
                    if prepared_pid.is_some() {
                        table_writer.write_entry::<u32>(1);
                    }
                    if prepared_moves.is_some() {
                        table_writer.write_entry::<u32>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_moved_bytes) =
                                prepared_moved_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_moved_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_device) = prepared_device {
                                object_writer.write::<_, _, 4>(&prepared_device);
                            }
                            if let ::core::option::Option::Some(prepared_pid) = prepared_pid {
                                object_writer.write::<_, _, 4>(&prepared_pid);
                            }
                            if let ::core::option::Option::Some(prepared_moves) = prepared_moves {
                                object_writer.write::<_, _, 4>(&prepared_moves);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<MoverInfo>> for MoverInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<MoverInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<MoverInfo>> for MoverInfo {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<MoverInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<MoverInfo> for MoverInfo {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<MoverInfo> {
                    MoverInfo::create(
                        builder,
                        &self.device,
                        self.pid,
                        self.moves,
                        self.moved_bytes,
                    )
                }
            }

            /// Builder for serializing an instance of the [MoverInfo] type.
            ///
            /// Can be created using the [MoverInfo::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct MoverInfoBuilder<State>(State);

            impl MoverInfoBuilder<()> {
                /// Setter for the [`device` field](MoverInfo#structfield.device).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device<T0>(self, value: T0) -> MoverInfoBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                {
                    MoverInfoBuilder((value,))
                }

                /// Sets the [`device` field](MoverInfo#structfield.device) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn device_as_null(self) -> MoverInfoBuilder<((),)> {
                    self.device(())
                }
            }

            impl<T0> MoverInfoBuilder<(T0,)> {
                /// Setter for the [`pid` field](MoverInfo#structfield.pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid<T1>(self, value: T1) -> MoverInfoBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0,) = self.0;
                    MoverInfoBuilder((v0, value))
                }

                /// Sets the [`pid` field](MoverInfo#structfield.pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pid_as_default(self) -> MoverInfoBuilder<(T0, ::planus::DefaultValue)> {
                    self.pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1> MoverInfoBuilder<(T0, T1)> {
                /// Setter for the [`moves` field](MoverInfo#structfield.moves).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn moves<T2>(self, value: T2) -> MoverInfoBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1) = self.0;
                    MoverInfoBuilder((v0, v1, value))
                }

                /// Sets the [`moves` field](MoverInfo#structfield.moves) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn moves_as_default(
                    self,
                ) -> MoverInfoBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.moves(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> MoverInfoBuilder<(T0, T1, T2)> {
                /// Setter for the [`moved_bytes` field](MoverInfo#structfield.moved_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn moved_bytes<T3>(self, value: T3) -> MoverInfoBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2) = self.0;
                    MoverInfoBuilder((v0, v1, v2, value))
                }

                /// Sets the [`moved_bytes` field](MoverInfo#structfield.moved_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn moved_bytes_as_default(
                    self,
                ) -> MoverInfoBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.moved_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> MoverInfoBuilder<(T0, T1, T2, T3)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [MoverInfo].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<MoverInfo>
                where
                    Self: ::planus::WriteAsOffset<MoverInfo>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAs<::planus::Offset<MoverInfo>>
                for MoverInfoBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<MoverInfo>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<MoverInfo> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOptional<::planus::Offset<MoverInfo>>
                for MoverInfoBuilder<(T0, T1, T2, T3)>
            {
                type Prepared = ::planus::Offset<MoverInfo>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<MoverInfo>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<[u8]>>,
                T1: ::planus::WriteAsDefault<u32, u32>,
                T2: ::planus::WriteAsDefault<u32, u32>,
                T3: ::planus::WriteAsDefault<u64, u64>,
            > ::planus::WriteAsOffset<MoverInfo> for MoverInfoBuilder<(T0, T1, T2, T3)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<MoverInfo> {
                    let (v0, v1, v2, v3) = &self.0;
                    MoverInfo::create(builder, v0, v1, v2, v3)
                }
            }

            /// Reference to a deserialized [MoverInfo].
            #[derive(Copy, Clone)]
            pub struct MoverInfoRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> MoverInfoRef<'a> {
                /// Getter for the [`device` field](MoverInfo#structfield.device).
                #[inline]
                pub fn device(&self) -> ::planus::Result<::core::option::Option<&'a [u8]>> {
                    self.0.access(0, "MoverInfo", "device")
                }

                /// Getter for the [`pid` field](MoverInfo#structfield.pid).
                #[inline]
                pub fn pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(1, "MoverInfo", "pid")?.unwrap_or(0))
                }

                /// Getter for the [`moves` field](MoverInfo#structfield.moves).
                #[inline]
                pub fn moves(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(2, "MoverInfo", "moves")?.unwrap_or(0))
                }

                /// Getter for the [`moved_bytes` field](MoverInfo#structfield.moved_bytes).
                #[inline]
                pub fn moved_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "MoverInfo", "moved_bytes")?.unwrap_or(0),
                    )
                }
            }

            impl<'a> ::core::fmt::Debug for MoverInfoRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("MoverInfoRef");
                    if let ::core::option::Option::Some(field_device) = self.device().transpose() {
                        f.field("device", &field_device);
                    }
                    f.field("pid", &self.pid());
                    f.field("moves", &self.moves());
                    f.field("moved_bytes", &self.moved_bytes());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<MoverInfoRef<'a>> for MoverInfo {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: MoverInfoRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        device: value.device()?.map(|v| v.to_vec()),
                        pid: ::core::convert::TryInto::try_into(value.pid()?)?,
                        moves: ::core::convert::TryInto::try_into(value.moves()?)?,
                        moved_bytes: ::core::convert::TryInto::try_into(value.moved_bytes()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for MoverInfoRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for MoverInfoRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[MoverInfoRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<MoverInfo>> for MoverInfo {
                type Value = ::planus::Offset<MoverInfo>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<MoverInfo>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for MoverInfoRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[MoverInfoRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Status` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Status` in the file `schema/wire.fbs:286`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Status {
                /// The field `pond` in the table `Status`
                pub pond: ::core::option::Option<self::Id>,
                /// The field `epoch` in the table `Status`
                pub epoch: u64,
                /// The field `daemon_version` in the table `Status`
                pub daemon_version: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `daemon_pid` in the table `Status`
                pub daemon_pid: u32,
                /// The field `keeper_pid` in the table `Status`
                pub keeper_pid: u32,
                /// The field `driver` in the table `Status`
                pub driver: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `driver_ready` in the table `Status`
                pub driver_ready: bool,
                /// The field `started_unix_ms` in the table `Status`
                pub started_unix_ms: u64,
                /// The field `devices` in the table `Status`
                pub devices: ::core::option::Option<::planus::alloc::vec::Vec<self::DeviceInfo>>,
                /// The field `clients` in the table `Status`
                pub clients: u32,
                /// The field `silent_clients` in the table `Status`
                pub silent_clients: u32,
                /// The field `leases` in the table `Status`
                pub leases: u32,
                /// The field `journal_bytes` in the table `Status`
                pub journal_bytes: u64,
                /// The field `runtime_dir` in the table `Status`
                pub runtime_dir: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `lost_tensors` in the table `Status`
                pub lost_tensors: u32,
                /// The field `movers` in the table `Status`
                pub movers: ::core::option::Option<::planus::alloc::vec::Vec<self::MoverInfo>>,
                /// The field `program` in the table `Status`
                pub program: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Status {
                fn default() -> Self {
                    Self {
                        pond: ::core::default::Default::default(),
                        epoch: 0,
                        daemon_version: ::core::default::Default::default(),
                        daemon_pid: 0,
                        keeper_pid: 0,
                        driver: ::core::default::Default::default(),
                        driver_ready: false,
                        started_unix_ms: 0,
                        devices: ::core::default::Default::default(),
                        clients: 0,
                        silent_clients: 0,
                        leases: 0,
                        journal_bytes: 0,
                        runtime_dir: ::core::default::Default::default(),
                        lost_tensors: 0,
                        movers: ::core::default::Default::default(),
                        program: ::core::default::Default::default(),
                    }
                }
            }

            impl Status {
                /// Creates a [StatusBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> StatusBuilder<()> {
                    StatusBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_pond: impl ::planus::WriteAsOptional<self::Id>,
                    field_epoch: impl ::planus::WriteAsDefault<u64, u64>,
                    field_daemon_version: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_daemon_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_keeper_pid: impl ::planus::WriteAsDefault<u32, u32>,
                    field_driver: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_driver_ready: impl ::planus::WriteAsDefault<bool, bool>,
                    field_started_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_devices: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::DeviceInfo>]>,
                    >,
                    field_clients: impl ::planus::WriteAsDefault<u32, u32>,
                    field_silent_clients: impl ::planus::WriteAsDefault<u32, u32>,
                    field_leases: impl ::planus::WriteAsDefault<u32, u32>,
                    field_journal_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_runtime_dir: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_lost_tensors: impl ::planus::WriteAsDefault<u32, u32>,
                    field_movers: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::MoverInfo>]>,
                    >,
                    field_program: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_pond = field_pond.prepare(builder);
                    let prepared_epoch = field_epoch.prepare(builder, &0);
                    let prepared_daemon_version = field_daemon_version.prepare(builder);
                    let prepared_daemon_pid = field_daemon_pid.prepare(builder, &0);
                    let prepared_keeper_pid = field_keeper_pid.prepare(builder, &0);
                    let prepared_driver = field_driver.prepare(builder);
                    let prepared_driver_ready = field_driver_ready.prepare(builder, &false);
                    let prepared_started_unix_ms = field_started_unix_ms.prepare(builder, &0);
                    let prepared_devices = field_devices.prepare(builder);
                    let prepared_clients = field_clients.prepare(builder, &0);
                    let prepared_silent_clients = field_silent_clients.prepare(builder, &0);
                    let prepared_leases = field_leases.prepare(builder, &0);
                    let prepared_journal_bytes = field_journal_bytes.prepare(builder, &0);
                    let prepared_runtime_dir = field_runtime_dir.prepare(builder);
                    let prepared_lost_tensors = field_lost_tensors.prepare(builder, &0);
                    let prepared_movers = field_movers.prepare(builder);
                    let prepared_program = field_program.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<38> =
                        ::core::default::Default::default();
                    if prepared_pond.is_some() {
                        table_writer.write_entry::<self::Id>(0);
                    }
                    if prepared_epoch.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_started_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(7);
                    }
                    if prepared_journal_bytes.is_some() {
                        table_writer.write_entry::<u64>(12);
                    }
                    if prepared_daemon_version.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }
                    if prepared_daemon_pid.is_some() {
                        table_writer.write_entry::<u32>(3);
                    }
                    if prepared_keeper_pid.is_some() {
                        table_writer.write_entry::<u32>(4);
                    }
                    if prepared_driver.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(5);
                    }
                    if prepared_devices.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::DeviceInfo>]>>(
                                8,
                            );
                    }
                    if prepared_clients.is_some() {
                        table_writer.write_entry::<u32>(9);
                    }
                    if prepared_silent_clients.is_some() {
                        table_writer.write_entry::<u32>(10);
                    }
                    if prepared_leases.is_some() {
                        table_writer.write_entry::<u32>(11);
                    }
                    if prepared_runtime_dir.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(13);
                    }
                    if prepared_lost_tensors.is_some() {
                        table_writer.write_entry::<u32>(14);
                    }
                    if prepared_movers.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::MoverInfo>]>>(
                                15,
                            );
                    }
                    if prepared_program.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(16);
                    }
                    if prepared_driver_ready.is_some() {
                        table_writer.write_entry::<bool>(6);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_pond) = prepared_pond {
                                object_writer.write::<_, _, 16>(&prepared_pond);
                            }
                            if let ::core::option::Option::Some(prepared_epoch) = prepared_epoch {
                                object_writer.write::<_, _, 8>(&prepared_epoch);
                            }
                            if let ::core::option::Option::Some(prepared_started_unix_ms) =
                                prepared_started_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_started_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_journal_bytes) =
                                prepared_journal_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_journal_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_daemon_version) =
                                prepared_daemon_version
                            {
                                object_writer.write::<_, _, 4>(&prepared_daemon_version);
                            }
                            if let ::core::option::Option::Some(prepared_daemon_pid) =
                                prepared_daemon_pid
                            {
                                object_writer.write::<_, _, 4>(&prepared_daemon_pid);
                            }
                            if let ::core::option::Option::Some(prepared_keeper_pid) =
                                prepared_keeper_pid
                            {
                                object_writer.write::<_, _, 4>(&prepared_keeper_pid);
                            }
                            if let ::core::option::Option::Some(prepared_driver) = prepared_driver {
                                object_writer.write::<_, _, 4>(&prepared_driver);
                            }
                            if let ::core::option::Option::Some(prepared_devices) = prepared_devices
                            {
                                object_writer.write::<_, _, 4>(&prepared_devices);
                            }
                            if let ::core::option::Option::Some(prepared_clients) = prepared_clients
                            {
                                object_writer.write::<_, _, 4>(&prepared_clients);
                            }
                            if let ::core::option::Option::Some(prepared_silent_clients) =
                                prepared_silent_clients
                            {
                                object_writer.write::<_, _, 4>(&prepared_silent_clients);
                            }
                            if let ::core::option::Option::Some(prepared_leases) = prepared_leases {
                                object_writer.write::<_, _, 4>(&prepared_leases);
                            }
                            if let ::core::option::Option::Some(prepared_runtime_dir) =
                                prepared_runtime_dir
                            {
                                object_writer.write::<_, _, 4>(&prepared_runtime_dir);
                            }
                            if let ::core::option::Option::Some(prepared_lost_tensors) =
                                prepared_lost_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_lost_tensors);
                            }
                            if let ::core::option::Option::Some(prepared_movers) = prepared_movers {
                                object_writer.write::<_, _, 4>(&prepared_movers);
                            }
                            if let ::core::option::Option::Some(prepared_program) = prepared_program
                            {
                                object_writer.write::<_, _, 4>(&prepared_program);
                            }
                            if let ::core::option::Option::Some(prepared_driver_ready) =
                                prepared_driver_ready
                            {
                                object_writer.write::<_, _, 1>(&prepared_driver_ready);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Status>> for Status {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Status> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Status>> for Status {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Status>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Status> for Status {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Status> {
                    Status::create(
                        builder,
                        self.pond,
                        self.epoch,
                        &self.daemon_version,
                        self.daemon_pid,
                        self.keeper_pid,
                        &self.driver,
                        self.driver_ready,
                        self.started_unix_ms,
                        &self.devices,
                        self.clients,
                        self.silent_clients,
                        self.leases,
                        self.journal_bytes,
                        &self.runtime_dir,
                        self.lost_tensors,
                        &self.movers,
                        &self.program,
                    )
                }
            }

            /// Builder for serializing an instance of the [Status] type.
            ///
            /// Can be created using the [Status::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct StatusBuilder<State>(State);

            impl StatusBuilder<()> {
                /// Setter for the [`pond` field](Status#structfield.pond).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pond<T0>(self, value: T0) -> StatusBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<self::Id>,
                {
                    StatusBuilder((value,))
                }

                /// Sets the [`pond` field](Status#structfield.pond) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn pond_as_null(self) -> StatusBuilder<((),)> {
                    self.pond(())
                }
            }

            impl<T0> StatusBuilder<(T0,)> {
                /// Setter for the [`epoch` field](Status#structfield.epoch).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn epoch<T1>(self, value: T1) -> StatusBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    StatusBuilder((v0, value))
                }

                /// Sets the [`epoch` field](Status#structfield.epoch) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn epoch_as_default(self) -> StatusBuilder<(T0, ::planus::DefaultValue)> {
                    self.epoch(::planus::DefaultValue)
                }
            }

            impl<T0, T1> StatusBuilder<(T0, T1)> {
                /// Setter for the [`daemon_version` field](Status#structfield.daemon_version).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn daemon_version<T2>(self, value: T2) -> StatusBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    StatusBuilder((v0, v1, value))
                }

                /// Sets the [`daemon_version` field](Status#structfield.daemon_version) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn daemon_version_as_null(self) -> StatusBuilder<(T0, T1, ())> {
                    self.daemon_version(())
                }
            }

            impl<T0, T1, T2> StatusBuilder<(T0, T1, T2)> {
                /// Setter for the [`daemon_pid` field](Status#structfield.daemon_pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn daemon_pid<T3>(self, value: T3) -> StatusBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2) = self.0;
                    StatusBuilder((v0, v1, v2, value))
                }

                /// Sets the [`daemon_pid` field](Status#structfield.daemon_pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn daemon_pid_as_default(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.daemon_pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> StatusBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`keeper_pid` field](Status#structfield.keeper_pid).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn keeper_pid<T4>(self, value: T4) -> StatusBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    StatusBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`keeper_pid` field](Status#structfield.keeper_pid) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn keeper_pid_as_default(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.keeper_pid(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> StatusBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`driver` field](Status#structfield.driver).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn driver<T5>(self, value: T5) -> StatusBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`driver` field](Status#structfield.driver) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn driver_as_null(self) -> StatusBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.driver(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> StatusBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`driver_ready` field](Status#structfield.driver_ready).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn driver_ready<T6>(
                    self,
                    value: T6,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsDefault<bool, bool>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`driver_ready` field](Status#structfield.driver_ready) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn driver_ready_as_default(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, ::planus::DefaultValue)>
                {
                    self.driver_ready(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`started_unix_ms` field](Status#structfield.started_unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn started_unix_ms<T7>(
                    self,
                    value: T7,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`started_unix_ms` field](Status#structfield.started_unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn started_unix_ms_as_default(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, ::planus::DefaultValue)>
                {
                    self.started_unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Setter for the [`devices` field](Status#structfield.devices).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn devices<T8>(
                    self,
                    value: T8,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)>
                where
                    T8: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::DeviceInfo>]>,
                        >,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, v7, value))
                }

                /// Sets the [`devices` field](Status#structfield.devices) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn devices_as_null(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, ())> {
                    self.devices(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8)> {
                /// Setter for the [`clients` field](Status#structfield.clients).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn clients<T9>(
                    self,
                    value: T9,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
                where
                    T9: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, value))
                }

                /// Sets the [`clients` field](Status#structfield.clients) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn clients_as_default(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, ::planus::DefaultValue)>
                {
                    self.clients(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9>
                StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9)>
            {
                /// Setter for the [`silent_clients` field](Status#structfield.silent_clients).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn silent_clients<T10>(
                    self,
                    value: T10,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
                where
                    T10: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, value))
                }

                /// Sets the [`silent_clients` field](Status#structfield.silent_clients) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn silent_clients_as_default(
                    self,
                ) -> StatusBuilder<(
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
                    self.silent_clients(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10>
                StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10)>
            {
                /// Setter for the [`leases` field](Status#structfield.leases).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases<T11>(
                    self,
                    value: T11,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
                where
                    T11: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, value))
                }

                /// Sets the [`leases` field](Status#structfield.leases) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn leases_as_default(
                    self,
                ) -> StatusBuilder<(
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
                    self.leases(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11>
                StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11)>
            {
                /// Setter for the [`journal_bytes` field](Status#structfield.journal_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn journal_bytes<T12>(
                    self,
                    value: T12,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12)>
                where
                    T12: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, value))
                }

                /// Sets the [`journal_bytes` field](Status#structfield.journal_bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn journal_bytes_as_default(
                    self,
                ) -> StatusBuilder<(
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
                    ::planus::DefaultValue,
                )> {
                    self.journal_bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12>
                StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12)>
            {
                /// Setter for the [`runtime_dir` field](Status#structfield.runtime_dir).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn runtime_dir<T13>(
                    self,
                    value: T13,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13)>
                where
                    T13: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12) = self.0;
                    StatusBuilder((v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, value))
                }

                /// Sets the [`runtime_dir` field](Status#structfield.runtime_dir) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn runtime_dir_as_null(
                    self,
                ) -> StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, ())>
                {
                    self.runtime_dir(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13>
                StatusBuilder<(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13)>
            {
                /// Setter for the [`lost_tensors` field](Status#structfield.lost_tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lost_tensors<T14>(
                    self,
                    value: T14,
                ) -> StatusBuilder<(
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
                    T14: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13) = self.0;
                    StatusBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, value,
                    ))
                }

                /// Sets the [`lost_tensors` field](Status#structfield.lost_tensors) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn lost_tensors_as_default(
                    self,
                ) -> StatusBuilder<(
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
                    ::planus::DefaultValue,
                )> {
                    self.lost_tensors(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14>
                StatusBuilder<(
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
                /// Setter for the [`movers` field](Status#structfield.movers).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn movers<T15>(
                    self,
                    value: T15,
                ) -> StatusBuilder<(
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
                    T15: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::MoverInfo>]>,
                        >,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14) = self.0;
                    StatusBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, value,
                    ))
                }

                /// Sets the [`movers` field](Status#structfield.movers) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn movers_as_null(
                    self,
                ) -> StatusBuilder<(
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
                    self.movers(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15>
                StatusBuilder<(
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
                /// Setter for the [`program` field](Status#structfield.program).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program<T16>(
                    self,
                    value: T16,
                ) -> StatusBuilder<(
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
                    T16: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15) =
                        self.0;
                    StatusBuilder((
                        v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, value,
                    ))
                }

                /// Sets the [`program` field](Status#structfield.program) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn program_as_null(
                    self,
                ) -> StatusBuilder<(
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
                    self.program(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16>
                StatusBuilder<(
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
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Status].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Status>
                where
                    Self: ::planus::WriteAsOffset<Status>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsDefault<bool, bool>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::DeviceInfo>]>>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u32, u32>,
                T11: ::planus::WriteAsDefault<u32, u32>,
                T12: ::planus::WriteAsDefault<u64, u64>,
                T13: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T14: ::planus::WriteAsDefault<u32, u32>,
                T15: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::MoverInfo>]>>,
                T16: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAs<::planus::Offset<Status>>
                for StatusBuilder<(
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
                type Prepared = ::planus::Offset<Status>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Status> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsDefault<bool, bool>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::DeviceInfo>]>>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u32, u32>,
                T11: ::planus::WriteAsDefault<u32, u32>,
                T12: ::planus::WriteAsDefault<u64, u64>,
                T13: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T14: ::planus::WriteAsDefault<u32, u32>,
                T15: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::MoverInfo>]>>,
                T16: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOptional<::planus::Offset<Status>>
                for StatusBuilder<(
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
                type Prepared = ::planus::Offset<Status>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Status>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<self::Id>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u32, u32>,
                T5: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T6: ::planus::WriteAsDefault<bool, bool>,
                T7: ::planus::WriteAsDefault<u64, u64>,
                T8: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::DeviceInfo>]>>,
                T9: ::planus::WriteAsDefault<u32, u32>,
                T10: ::planus::WriteAsDefault<u32, u32>,
                T11: ::planus::WriteAsDefault<u32, u32>,
                T12: ::planus::WriteAsDefault<u64, u64>,
                T13: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T14: ::planus::WriteAsDefault<u32, u32>,
                T15: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::MoverInfo>]>>,
                T16: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOffset<Status>
                for StatusBuilder<(
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
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Status> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16) =
                        &self.0;
                    Status::create(
                        builder, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14,
                        v15, v16,
                    )
                }
            }

            /// Reference to a deserialized [Status].
            #[derive(Copy, Clone)]
            pub struct StatusRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> StatusRef<'a> {
                /// Getter for the [`pond` field](Status#structfield.pond).
                #[inline]
                pub fn pond(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(0, "Status", "pond")
                }

                /// Getter for the [`epoch` field](Status#structfield.epoch).
                #[inline]
                pub fn epoch(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(1, "Status", "epoch")?.unwrap_or(0))
                }

                /// Getter for the [`daemon_version` field](Status#structfield.daemon_version).
                #[inline]
                pub fn daemon_version(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "Status", "daemon_version")
                }

                /// Getter for the [`daemon_pid` field](Status#structfield.daemon_pid).
                #[inline]
                pub fn daemon_pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(3, "Status", "daemon_pid")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`keeper_pid` field](Status#structfield.keeper_pid).
                #[inline]
                pub fn keeper_pid(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(4, "Status", "keeper_pid")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`driver` field](Status#structfield.driver).
                #[inline]
                pub fn driver(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(5, "Status", "driver")
                }

                /// Getter for the [`driver_ready` field](Status#structfield.driver_ready).
                #[inline]
                pub fn driver_ready(&self) -> ::planus::Result<bool> {
                    ::core::result::Result::Ok(
                        self.0.access(6, "Status", "driver_ready")?.unwrap_or(false),
                    )
                }

                /// Getter for the [`started_unix_ms` field](Status#structfield.started_unix_ms).
                #[inline]
                pub fn started_unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(7, "Status", "started_unix_ms")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`devices` field](Status#structfield.devices).
                #[inline]
                pub fn devices(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::DeviceInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(8, "Status", "devices")
                }

                /// Getter for the [`clients` field](Status#structfield.clients).
                #[inline]
                pub fn clients(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(9, "Status", "clients")?.unwrap_or(0))
                }

                /// Getter for the [`silent_clients` field](Status#structfield.silent_clients).
                #[inline]
                pub fn silent_clients(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(10, "Status", "silent_clients")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`leases` field](Status#structfield.leases).
                #[inline]
                pub fn leases(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(11, "Status", "leases")?.unwrap_or(0))
                }

                /// Getter for the [`journal_bytes` field](Status#structfield.journal_bytes).
                #[inline]
                pub fn journal_bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(
                        self.0.access(12, "Status", "journal_bytes")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`runtime_dir` field](Status#structfield.runtime_dir).
                #[inline]
                pub fn runtime_dir(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(13, "Status", "runtime_dir")
                }

                /// Getter for the [`lost_tensors` field](Status#structfield.lost_tensors).
                #[inline]
                pub fn lost_tensors(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(
                        self.0.access(14, "Status", "lost_tensors")?.unwrap_or(0),
                    )
                }

                /// Getter for the [`movers` field](Status#structfield.movers).
                #[inline]
                pub fn movers(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::MoverInfoRef<'a>>>,
                    >,
                > {
                    self.0.access(15, "Status", "movers")
                }

                /// Getter for the [`program` field](Status#structfield.program).
                #[inline]
                pub fn program(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(16, "Status", "program")
                }
            }

            impl<'a> ::core::fmt::Debug for StatusRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("StatusRef");
                    if let ::core::option::Option::Some(field_pond) = self.pond().transpose() {
                        f.field("pond", &field_pond);
                    }
                    f.field("epoch", &self.epoch());
                    if let ::core::option::Option::Some(field_daemon_version) =
                        self.daemon_version().transpose()
                    {
                        f.field("daemon_version", &field_daemon_version);
                    }
                    f.field("daemon_pid", &self.daemon_pid());
                    f.field("keeper_pid", &self.keeper_pid());
                    if let ::core::option::Option::Some(field_driver) = self.driver().transpose() {
                        f.field("driver", &field_driver);
                    }
                    f.field("driver_ready", &self.driver_ready());
                    f.field("started_unix_ms", &self.started_unix_ms());
                    if let ::core::option::Option::Some(field_devices) = self.devices().transpose()
                    {
                        f.field("devices", &field_devices);
                    }
                    f.field("clients", &self.clients());
                    f.field("silent_clients", &self.silent_clients());
                    f.field("leases", &self.leases());
                    f.field("journal_bytes", &self.journal_bytes());
                    if let ::core::option::Option::Some(field_runtime_dir) =
                        self.runtime_dir().transpose()
                    {
                        f.field("runtime_dir", &field_runtime_dir);
                    }
                    f.field("lost_tensors", &self.lost_tensors());
                    if let ::core::option::Option::Some(field_movers) = self.movers().transpose() {
                        f.field("movers", &field_movers);
                    }
                    if let ::core::option::Option::Some(field_program) = self.program().transpose()
                    {
                        f.field("program", &field_program);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<StatusRef<'a>> for Status {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: StatusRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        pond: value.pond()?.map(::core::convert::Into::into),
                        epoch: ::core::convert::TryInto::try_into(value.epoch()?)?,
                        daemon_version: value.daemon_version()?.map(::core::convert::Into::into),
                        daemon_pid: ::core::convert::TryInto::try_into(value.daemon_pid()?)?,
                        keeper_pid: ::core::convert::TryInto::try_into(value.keeper_pid()?)?,
                        driver: value.driver()?.map(::core::convert::Into::into),
                        driver_ready: ::core::convert::TryInto::try_into(value.driver_ready()?)?,
                        started_unix_ms: ::core::convert::TryInto::try_into(
                            value.started_unix_ms()?,
                        )?,
                        devices: if let ::core::option::Option::Some(devices) = value.devices()? {
                            ::core::option::Option::Some(devices.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        clients: ::core::convert::TryInto::try_into(value.clients()?)?,
                        silent_clients: ::core::convert::TryInto::try_into(
                            value.silent_clients()?,
                        )?,
                        leases: ::core::convert::TryInto::try_into(value.leases()?)?,
                        journal_bytes: ::core::convert::TryInto::try_into(value.journal_bytes()?)?,
                        runtime_dir: value.runtime_dir()?.map(::core::convert::Into::into),
                        lost_tensors: ::core::convert::TryInto::try_into(value.lost_tensors()?)?,
                        movers: if let ::core::option::Option::Some(movers) = value.movers()? {
                            ::core::option::Option::Some(movers.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        program: value.program()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for StatusRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for StatusRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[StatusRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Status>> for Status {
                type Value = ::planus::Offset<Status>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Status>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for StatusRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[StatusRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Event` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Event` in the file `schema/wire.fbs:307`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Event {
                /// The field `sequence` in the table `Event`
                pub sequence: u64,
                /// The field `unix_ms` in the table `Event`
                pub unix_ms: u64,
                /// The field `kind` in the table `Event`
                pub kind: u8,
                /// The field `tensor` in the table `Event`
                pub tensor: ::core::option::Option<self::Id>,
                /// The field `name` in the table `Event`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `user` in the table `Event`
                pub user: u32,
                /// The field `text` in the table `Event`
                pub text: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Event {
                fn default() -> Self {
                    Self {
                        sequence: 0,
                        unix_ms: 0,
                        kind: 0,
                        tensor: ::core::default::Default::default(),
                        name: ::core::default::Default::default(),
                        user: 0,
                        text: ::core::default::Default::default(),
                    }
                }
            }

            impl Event {
                /// Creates a [EventBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> EventBuilder<()> {
                    EventBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_sequence: impl ::planus::WriteAsDefault<u64, u64>,
                    field_unix_ms: impl ::planus::WriteAsDefault<u64, u64>,
                    field_kind: impl ::planus::WriteAsDefault<u8, u8>,
                    field_tensor: impl ::planus::WriteAsOptional<self::Id>,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_text: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                ) -> ::planus::Offset<Self> {
                    let prepared_sequence = field_sequence.prepare(builder, &0);
                    let prepared_unix_ms = field_unix_ms.prepare(builder, &0);
                    let prepared_kind = field_kind.prepare(builder, &0);
                    let prepared_tensor = field_tensor.prepare(builder);
                    let prepared_name = field_name.prepare(builder);
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_text = field_text.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<18> =
                        ::core::default::Default::default();
                    if prepared_sequence.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }
                    if prepared_unix_ms.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_tensor.is_some() {
                        table_writer.write_entry::<self::Id>(3);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(4);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(5);
                    }
                    if prepared_text.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(6);
                    }
                    if prepared_kind.is_some() {
                        table_writer.write_entry::<u8>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_sequence) =
                                prepared_sequence
                            {
                                object_writer.write::<_, _, 8>(&prepared_sequence);
                            }
                            if let ::core::option::Option::Some(prepared_unix_ms) = prepared_unix_ms
                            {
                                object_writer.write::<_, _, 8>(&prepared_unix_ms);
                            }
                            if let ::core::option::Option::Some(prepared_tensor) = prepared_tensor {
                                object_writer.write::<_, _, 16>(&prepared_tensor);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_text) = prepared_text {
                                object_writer.write::<_, _, 4>(&prepared_text);
                            }
                            if let ::core::option::Option::Some(prepared_kind) = prepared_kind {
                                object_writer.write::<_, _, 1>(&prepared_kind);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Event>> for Event {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Event> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Event>> for Event {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Event>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Event> for Event {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Event> {
                    Event::create(
                        builder,
                        self.sequence,
                        self.unix_ms,
                        self.kind,
                        self.tensor,
                        &self.name,
                        self.user,
                        &self.text,
                    )
                }
            }

            /// Builder for serializing an instance of the [Event] type.
            ///
            /// Can be created using the [Event::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct EventBuilder<State>(State);

            impl EventBuilder<()> {
                /// Setter for the [`sequence` field](Event#structfield.sequence).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn sequence<T0>(self, value: T0) -> EventBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    EventBuilder((value,))
                }

                /// Sets the [`sequence` field](Event#structfield.sequence) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn sequence_as_default(self) -> EventBuilder<(::planus::DefaultValue,)> {
                    self.sequence(::planus::DefaultValue)
                }
            }

            impl<T0> EventBuilder<(T0,)> {
                /// Setter for the [`unix_ms` field](Event#structfield.unix_ms).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn unix_ms<T1>(self, value: T1) -> EventBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    EventBuilder((v0, value))
                }

                /// Sets the [`unix_ms` field](Event#structfield.unix_ms) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn unix_ms_as_default(self) -> EventBuilder<(T0, ::planus::DefaultValue)> {
                    self.unix_ms(::planus::DefaultValue)
                }
            }

            impl<T0, T1> EventBuilder<(T0, T1)> {
                /// Setter for the [`kind` field](Event#structfield.kind).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn kind<T2>(self, value: T2) -> EventBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0, v1) = self.0;
                    EventBuilder((v0, v1, value))
                }

                /// Sets the [`kind` field](Event#structfield.kind) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn kind_as_default(self) -> EventBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.kind(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> EventBuilder<(T0, T1, T2)> {
                /// Setter for the [`tensor` field](Event#structfield.tensor).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor<T3>(self, value: T3) -> EventBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<self::Id>,
                {
                    let (v0, v1, v2) = self.0;
                    EventBuilder((v0, v1, v2, value))
                }

                /// Sets the [`tensor` field](Event#structfield.tensor) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensor_as_null(self) -> EventBuilder<(T0, T1, T2, ())> {
                    self.tensor(())
                }
            }

            impl<T0, T1, T2, T3> EventBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`name` field](Event#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T4>(self, value: T4) -> EventBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    EventBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`name` field](Event#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> EventBuilder<(T0, T1, T2, T3, ())> {
                    self.name(())
                }
            }

            impl<T0, T1, T2, T3, T4> EventBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`user` field](Event#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T5>(self, value: T5) -> EventBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    EventBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`user` field](Event#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(
                    self,
                ) -> EventBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> EventBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`text` field](Event#structfield.text).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn text<T6>(self, value: T6) -> EventBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    EventBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`text` field](Event#structfield.text) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn text_as_null(self) -> EventBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.text(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> EventBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Event].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Event>
                where
                    Self: ::planus::WriteAsOffset<Event>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<self::Id>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAs<::planus::Offset<Event>>
                for EventBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                type Prepared = ::planus::Offset<Event>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Event> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<self::Id>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOptional<::planus::Offset<Event>>
                for EventBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                type Prepared = ::planus::Offset<Event>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Event>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u8, u8>,
                T3: ::planus::WriteAsOptional<self::Id>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T5: ::planus::WriteAsDefault<u32, u32>,
                T6: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOffset<Event> for EventBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Event> {
                    let (v0, v1, v2, v3, v4, v5, v6) = &self.0;
                    Event::create(builder, v0, v1, v2, v3, v4, v5, v6)
                }
            }

            /// Reference to a deserialized [Event].
            #[derive(Copy, Clone)]
            pub struct EventRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> EventRef<'a> {
                /// Getter for the [`sequence` field](Event#structfield.sequence).
                #[inline]
                pub fn sequence(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(0, "Event", "sequence")?.unwrap_or(0))
                }

                /// Getter for the [`unix_ms` field](Event#structfield.unix_ms).
                #[inline]
                pub fn unix_ms(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(1, "Event", "unix_ms")?.unwrap_or(0))
                }

                /// Getter for the [`kind` field](Event#structfield.kind).
                #[inline]
                pub fn kind(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(2, "Event", "kind")?.unwrap_or(0))
                }

                /// Getter for the [`tensor` field](Event#structfield.tensor).
                #[inline]
                pub fn tensor(&self) -> ::planus::Result<::core::option::Option<self::IdRef<'a>>> {
                    self.0.access(3, "Event", "tensor")
                }

                /// Getter for the [`name` field](Event#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(4, "Event", "name")
                }

                /// Getter for the [`user` field](Event#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(5, "Event", "user")?.unwrap_or(0))
                }

                /// Getter for the [`text` field](Event#structfield.text).
                #[inline]
                pub fn text(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(6, "Event", "text")
                }
            }

            impl<'a> ::core::fmt::Debug for EventRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("EventRef");
                    f.field("sequence", &self.sequence());
                    f.field("unix_ms", &self.unix_ms());
                    f.field("kind", &self.kind());
                    if let ::core::option::Option::Some(field_tensor) = self.tensor().transpose() {
                        f.field("tensor", &field_tensor);
                    }
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("user", &self.user());
                    if let ::core::option::Option::Some(field_text) = self.text().transpose() {
                        f.field("text", &field_text);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<EventRef<'a>> for Event {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: EventRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        sequence: ::core::convert::TryInto::try_into(value.sequence()?)?,
                        unix_ms: ::core::convert::TryInto::try_into(value.unix_ms()?)?,
                        kind: ::core::convert::TryInto::try_into(value.kind()?)?,
                        tensor: value.tensor()?.map(::core::convert::Into::into),
                        name: value.name()?.map(::core::convert::Into::into),
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        text: value.text()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for EventRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for EventRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[EventRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Event>> for Event {
                type Value = ::planus::Offset<Event>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Event>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for EventRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[EventRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Holder` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Holder` in the file `schema/wire.fbs:317`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Holder {
                /// The field `user` in the table `Holder`
                pub user: u32,
                /// The field `bytes` in the table `Holder`
                pub bytes: u64,
                /// The field `tensors` in the table `Holder`
                pub tensors: u32,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Holder {
                fn default() -> Self {
                    Self {
                        user: 0,
                        bytes: 0,
                        tensors: 0,
                    }
                }
            }

            impl Holder {
                /// Creates a [HolderBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> HolderBuilder<()> {
                    HolderBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_user: impl ::planus::WriteAsDefault<u32, u32>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_tensors: impl ::planus::WriteAsDefault<u32, u32>,
                ) -> ::planus::Offset<Self> {
                    let prepared_user = field_user.prepare(builder, &0);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_tensors = field_tensors.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<10> =
                        ::core::default::Default::default();
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(1);
                    }
                    if prepared_user.is_some() {
                        table_writer.write_entry::<u32>(0);
                    }
                    if prepared_tensors.is_some() {
                        table_writer.write_entry::<u32>(2);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_user) = prepared_user {
                                object_writer.write::<_, _, 4>(&prepared_user);
                            }
                            if let ::core::option::Option::Some(prepared_tensors) = prepared_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_tensors);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Holder>> for Holder {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Holder> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Holder>> for Holder {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Holder>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Holder> for Holder {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Holder> {
                    Holder::create(builder, self.user, self.bytes, self.tensors)
                }
            }

            /// Builder for serializing an instance of the [Holder] type.
            ///
            /// Can be created using the [Holder::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct HolderBuilder<State>(State);

            impl HolderBuilder<()> {
                /// Setter for the [`user` field](Holder#structfield.user).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user<T0>(self, value: T0) -> HolderBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u32, u32>,
                {
                    HolderBuilder((value,))
                }

                /// Sets the [`user` field](Holder#structfield.user) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn user_as_default(self) -> HolderBuilder<(::planus::DefaultValue,)> {
                    self.user(::planus::DefaultValue)
                }
            }

            impl<T0> HolderBuilder<(T0,)> {
                /// Setter for the [`bytes` field](Holder#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T1>(self, value: T1) -> HolderBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0,) = self.0;
                    HolderBuilder((v0, value))
                }

                /// Sets the [`bytes` field](Holder#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(self) -> HolderBuilder<(T0, ::planus::DefaultValue)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1> HolderBuilder<(T0, T1)> {
                /// Setter for the [`tensors` field](Holder#structfield.tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors<T2>(self, value: T2) -> HolderBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1) = self.0;
                    HolderBuilder((v0, v1, value))
                }

                /// Sets the [`tensors` field](Holder#structfield.tensors) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors_as_default(self) -> HolderBuilder<(T0, T1, ::planus::DefaultValue)> {
                    self.tensors(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2> HolderBuilder<(T0, T1, T2)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Holder].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Holder>
                where
                    Self: ::planus::WriteAsOffset<Holder>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAs<::planus::Offset<Holder>> for HolderBuilder<(T0, T1, T2)>
            {
                type Prepared = ::planus::Offset<Holder>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Holder> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAsOptional<::planus::Offset<Holder>> for HolderBuilder<(T0, T1, T2)>
            {
                type Prepared = ::planus::Offset<Holder>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Holder>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u32, u32>,
                T1: ::planus::WriteAsDefault<u64, u64>,
                T2: ::planus::WriteAsDefault<u32, u32>,
            > ::planus::WriteAsOffset<Holder> for HolderBuilder<(T0, T1, T2)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Holder> {
                    let (v0, v1, v2) = &self.0;
                    Holder::create(builder, v0, v1, v2)
                }
            }

            /// Reference to a deserialized [Holder].
            #[derive(Copy, Clone)]
            pub struct HolderRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> HolderRef<'a> {
                /// Getter for the [`user` field](Holder#structfield.user).
                #[inline]
                pub fn user(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(0, "Holder", "user")?.unwrap_or(0))
                }

                /// Getter for the [`bytes` field](Holder#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(1, "Holder", "bytes")?.unwrap_or(0))
                }

                /// Getter for the [`tensors` field](Holder#structfield.tensors).
                #[inline]
                pub fn tensors(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(2, "Holder", "tensors")?.unwrap_or(0))
                }
            }

            impl<'a> ::core::fmt::Debug for HolderRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HolderRef");
                    f.field("user", &self.user());
                    f.field("bytes", &self.bytes());
                    f.field("tensors", &self.tensors());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<HolderRef<'a>> for Holder {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: HolderRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        user: ::core::convert::TryInto::try_into(value.user()?)?,
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        tensors: ::core::convert::TryInto::try_into(value.tensors()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for HolderRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for HolderRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[HolderRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Holder>> for Holder {
                type Value = ::planus::Offset<Holder>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Holder>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for HolderRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[HolderRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Failure` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Failure` in the file `schema/wire.fbs:323`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Failure {
                /// The field `kind` in the table `Failure`
                pub kind: u16,
                /// The field `message` in the table `Failure`
                pub message: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `hint` in the table `Failure`
                pub hint: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `similar` in the table `Failure`
                pub similar: ::core::option::Option<
                    ::planus::alloc::vec::Vec<::planus::alloc::string::String>,
                >,
                /// The field `requested_bytes` in the table `Failure`
                pub requested_bytes: ::core::option::Option<u64>,
                /// The field `free_bytes` in the table `Failure`
                pub free_bytes: ::core::option::Option<u64>,
                /// The field `capacity_bytes` in the table `Failure`
                pub capacity_bytes: ::core::option::Option<u64>,
                /// The field `holders` in the table `Failure`
                pub holders: ::core::option::Option<::planus::alloc::vec::Vec<self::Holder>>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Failure {
                fn default() -> Self {
                    Self {
                        kind: 0,
                        message: ::core::default::Default::default(),
                        hint: ::core::default::Default::default(),
                        similar: ::core::default::Default::default(),
                        requested_bytes: ::core::default::Default::default(),
                        free_bytes: ::core::default::Default::default(),
                        capacity_bytes: ::core::default::Default::default(),
                        holders: ::core::default::Default::default(),
                    }
                }
            }

            impl Failure {
                /// Creates a [FailureBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> FailureBuilder<()> {
                    FailureBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_kind: impl ::planus::WriteAsDefault<u16, u16>,
                    field_message: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                    field_hint: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_similar: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<str>]>,
                    >,
                    field_requested_bytes: impl ::planus::WriteAsOptional<u64>,
                    field_free_bytes: impl ::planus::WriteAsOptional<u64>,
                    field_capacity_bytes: impl ::planus::WriteAsOptional<u64>,
                    field_holders: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::Holder>]>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_kind = field_kind.prepare(builder, &0);
                    let prepared_message = field_message.prepare(builder);
                    let prepared_hint = field_hint.prepare(builder);
                    let prepared_similar = field_similar.prepare(builder);
                    let prepared_requested_bytes = field_requested_bytes.prepare(builder);
                    let prepared_free_bytes = field_free_bytes.prepare(builder);
                    let prepared_capacity_bytes = field_capacity_bytes.prepare(builder);
                    let prepared_holders = field_holders.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<20> =
                        ::core::default::Default::default();
                    if prepared_requested_bytes.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_free_bytes.is_some() {
                        table_writer.write_entry::<u64>(5);
                    }
                    if prepared_capacity_bytes.is_some() {
                        table_writer.write_entry::<u64>(6);
                    }
                    if prepared_message.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }
                    if prepared_hint.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(2);
                    }
                    if prepared_similar.is_some() {
                        table_writer.write_entry::<::planus::Offset<[::planus::Offset<str>]>>(3);
                    }
                    if prepared_holders.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::Holder>]>>(7);
                    }
                    if prepared_kind.is_some() {
                        table_writer.write_entry::<u16>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_requested_bytes) =
                                prepared_requested_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_requested_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_free_bytes) =
                                prepared_free_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_free_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_capacity_bytes) =
                                prepared_capacity_bytes
                            {
                                object_writer.write::<_, _, 8>(&prepared_capacity_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_message) = prepared_message
                            {
                                object_writer.write::<_, _, 4>(&prepared_message);
                            }
                            if let ::core::option::Option::Some(prepared_hint) = prepared_hint {
                                object_writer.write::<_, _, 4>(&prepared_hint);
                            }
                            if let ::core::option::Option::Some(prepared_similar) = prepared_similar
                            {
                                object_writer.write::<_, _, 4>(&prepared_similar);
                            }
                            if let ::core::option::Option::Some(prepared_holders) = prepared_holders
                            {
                                object_writer.write::<_, _, 4>(&prepared_holders);
                            }
                            if let ::core::option::Option::Some(prepared_kind) = prepared_kind {
                                object_writer.write::<_, _, 2>(&prepared_kind);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Failure>> for Failure {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Failure> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Failure>> for Failure {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Failure>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Failure> for Failure {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Failure> {
                    Failure::create(
                        builder,
                        self.kind,
                        &self.message,
                        &self.hint,
                        &self.similar,
                        self.requested_bytes,
                        self.free_bytes,
                        self.capacity_bytes,
                        &self.holders,
                    )
                }
            }

            /// Builder for serializing an instance of the [Failure] type.
            ///
            /// Can be created using the [Failure::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct FailureBuilder<State>(State);

            impl FailureBuilder<()> {
                /// Setter for the [`kind` field](Failure#structfield.kind).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn kind<T0>(self, value: T0) -> FailureBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u16, u16>,
                {
                    FailureBuilder((value,))
                }

                /// Sets the [`kind` field](Failure#structfield.kind) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn kind_as_default(self) -> FailureBuilder<(::planus::DefaultValue,)> {
                    self.kind(::planus::DefaultValue)
                }
            }

            impl<T0> FailureBuilder<(T0,)> {
                /// Setter for the [`message` field](Failure#structfield.message).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn message<T1>(self, value: T1) -> FailureBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    FailureBuilder((v0, value))
                }

                /// Sets the [`message` field](Failure#structfield.message) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn message_as_null(self) -> FailureBuilder<(T0, ())> {
                    self.message(())
                }
            }

            impl<T0, T1> FailureBuilder<(T0, T1)> {
                /// Setter for the [`hint` field](Failure#structfield.hint).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn hint<T2>(self, value: T2) -> FailureBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1) = self.0;
                    FailureBuilder((v0, v1, value))
                }

                /// Sets the [`hint` field](Failure#structfield.hint) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn hint_as_null(self) -> FailureBuilder<(T0, T1, ())> {
                    self.hint(())
                }
            }

            impl<T0, T1, T2> FailureBuilder<(T0, T1, T2)> {
                /// Setter for the [`similar` field](Failure#structfield.similar).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn similar<T3>(self, value: T3) -> FailureBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<str>]>>,
                {
                    let (v0, v1, v2) = self.0;
                    FailureBuilder((v0, v1, v2, value))
                }

                /// Sets the [`similar` field](Failure#structfield.similar) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn similar_as_null(self) -> FailureBuilder<(T0, T1, T2, ())> {
                    self.similar(())
                }
            }

            impl<T0, T1, T2, T3> FailureBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`requested_bytes` field](Failure#structfield.requested_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn requested_bytes<T4>(self, value: T4) -> FailureBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    FailureBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`requested_bytes` field](Failure#structfield.requested_bytes) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn requested_bytes_as_null(self) -> FailureBuilder<(T0, T1, T2, T3, ())> {
                    self.requested_bytes(())
                }
            }

            impl<T0, T1, T2, T3, T4> FailureBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`free_bytes` field](Failure#structfield.free_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn free_bytes<T5>(self, value: T5) -> FailureBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    FailureBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`free_bytes` field](Failure#structfield.free_bytes) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn free_bytes_as_null(self) -> FailureBuilder<(T0, T1, T2, T3, T4, ())> {
                    self.free_bytes(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5> FailureBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`capacity_bytes` field](Failure#structfield.capacity_bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capacity_bytes<T6>(
                    self,
                    value: T6,
                ) -> FailureBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<u64>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    FailureBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`capacity_bytes` field](Failure#structfield.capacity_bytes) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn capacity_bytes_as_null(
                    self,
                ) -> FailureBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.capacity_bytes(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> FailureBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Setter for the [`holders` field](Failure#structfield.holders).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn holders<T7>(
                    self,
                    value: T7,
                ) -> FailureBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
                where
                    T7: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::Holder>]>,
                        >,
                {
                    let (v0, v1, v2, v3, v4, v5, v6) = self.0;
                    FailureBuilder((v0, v1, v2, v3, v4, v5, v6, value))
                }

                /// Sets the [`holders` field](Failure#structfield.holders) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn holders_as_null(self) -> FailureBuilder<(T0, T1, T2, T3, T4, T5, T6, ())> {
                    self.holders(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6, T7> FailureBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Failure].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Failure>
                where
                    Self: ::planus::WriteAsOffset<Failure>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<str>]>>,
                T4: ::planus::WriteAsOptional<u64>,
                T5: ::planus::WriteAsOptional<u64>,
                T6: ::planus::WriteAsOptional<u64>,
                T7: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Holder>]>>,
            > ::planus::WriteAs<::planus::Offset<Failure>>
                for FailureBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<Failure>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Failure> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<str>]>>,
                T4: ::planus::WriteAsOptional<u64>,
                T5: ::planus::WriteAsOptional<u64>,
                T6: ::planus::WriteAsOptional<u64>,
                T7: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Holder>]>>,
            > ::planus::WriteAsOptional<::planus::Offset<Failure>>
                for FailureBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                type Prepared = ::planus::Offset<Failure>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Failure>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<str>]>>,
                T4: ::planus::WriteAsOptional<u64>,
                T5: ::planus::WriteAsOptional<u64>,
                T6: ::planus::WriteAsOptional<u64>,
                T7: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Holder>]>>,
            > ::planus::WriteAsOffset<Failure>
                for FailureBuilder<(T0, T1, T2, T3, T4, T5, T6, T7)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Failure> {
                    let (v0, v1, v2, v3, v4, v5, v6, v7) = &self.0;
                    Failure::create(builder, v0, v1, v2, v3, v4, v5, v6, v7)
                }
            }

            /// Reference to a deserialized [Failure].
            #[derive(Copy, Clone)]
            pub struct FailureRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> FailureRef<'a> {
                /// Getter for the [`kind` field](Failure#structfield.kind).
                #[inline]
                pub fn kind(&self) -> ::planus::Result<u16> {
                    ::core::result::Result::Ok(self.0.access(0, "Failure", "kind")?.unwrap_or(0))
                }

                /// Getter for the [`message` field](Failure#structfield.message).
                #[inline]
                pub fn message(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "Failure", "message")
                }

                /// Getter for the [`hint` field](Failure#structfield.hint).
                #[inline]
                pub fn hint(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(2, "Failure", "hint")
                }

                /// Getter for the [`similar` field](Failure#structfield.similar).
                #[inline]
                pub fn similar(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<&'a ::core::primitive::str>>,
                    >,
                > {
                    self.0.access(3, "Failure", "similar")
                }

                /// Getter for the [`requested_bytes` field](Failure#structfield.requested_bytes).
                #[inline]
                pub fn requested_bytes(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(4, "Failure", "requested_bytes")
                }

                /// Getter for the [`free_bytes` field](Failure#structfield.free_bytes).
                #[inline]
                pub fn free_bytes(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(5, "Failure", "free_bytes")
                }

                /// Getter for the [`capacity_bytes` field](Failure#structfield.capacity_bytes).
                #[inline]
                pub fn capacity_bytes(&self) -> ::planus::Result<::core::option::Option<u64>> {
                    self.0.access(6, "Failure", "capacity_bytes")
                }

                /// Getter for the [`holders` field](Failure#structfield.holders).
                #[inline]
                pub fn holders(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::HolderRef<'a>>>,
                    >,
                > {
                    self.0.access(7, "Failure", "holders")
                }
            }

            impl<'a> ::core::fmt::Debug for FailureRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("FailureRef");
                    f.field("kind", &self.kind());
                    if let ::core::option::Option::Some(field_message) = self.message().transpose()
                    {
                        f.field("message", &field_message);
                    }
                    if let ::core::option::Option::Some(field_hint) = self.hint().transpose() {
                        f.field("hint", &field_hint);
                    }
                    if let ::core::option::Option::Some(field_similar) = self.similar().transpose()
                    {
                        f.field("similar", &field_similar);
                    }
                    if let ::core::option::Option::Some(field_requested_bytes) =
                        self.requested_bytes().transpose()
                    {
                        f.field("requested_bytes", &field_requested_bytes);
                    }
                    if let ::core::option::Option::Some(field_free_bytes) =
                        self.free_bytes().transpose()
                    {
                        f.field("free_bytes", &field_free_bytes);
                    }
                    if let ::core::option::Option::Some(field_capacity_bytes) =
                        self.capacity_bytes().transpose()
                    {
                        f.field("capacity_bytes", &field_capacity_bytes);
                    }
                    if let ::core::option::Option::Some(field_holders) = self.holders().transpose()
                    {
                        f.field("holders", &field_holders);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<FailureRef<'a>> for Failure {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: FailureRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        kind: ::core::convert::TryInto::try_into(value.kind()?)?,
                        message: value.message()?.map(::core::convert::Into::into),
                        hint: value.hint()?.map(::core::convert::Into::into),
                        similar: if let ::core::option::Option::Some(similar) = value.similar()? {
                            ::core::option::Option::Some(similar.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        requested_bytes: if let ::core::option::Option::Some(requested_bytes) =
                            value.requested_bytes()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                requested_bytes,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        free_bytes: if let ::core::option::Option::Some(free_bytes) =
                            value.free_bytes()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                free_bytes,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        capacity_bytes: if let ::core::option::Option::Some(capacity_bytes) =
                            value.capacity_bytes()?
                        {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(
                                capacity_bytes,
                            )?)
                        } else {
                            ::core::option::Option::None
                        },
                        holders: if let ::core::option::Option::Some(holders) = value.holders()? {
                            ::core::option::Option::Some(holders.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for FailureRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for FailureRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[FailureRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Failure>> for Failure {
                type Value = ::planus::Offset<Failure>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Failure>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for FailureRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[FailureRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `InMemfd` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `InMemfd` in the file `schema/wire.fbs:335`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct InMemfd {
                /// The field `bytes` in the table `InMemfd`
                pub bytes: u64,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for InMemfd {
                fn default() -> Self {
                    Self { bytes: 0 }
                }
            }

            impl InMemfd {
                /// Creates a [InMemfdBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> InMemfdBuilder<()> {
                    InMemfdBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                ) -> ::planus::Offset<Self> {
                    let prepared_bytes = field_bytes.prepare(builder, &0);

                    let mut table_writer: ::planus::table_writer::TableWriter<6> =
                        ::core::default::Default::default();
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<InMemfd>> for InMemfd {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<InMemfd> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<InMemfd>> for InMemfd {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<InMemfd>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<InMemfd> for InMemfd {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<InMemfd> {
                    InMemfd::create(builder, self.bytes)
                }
            }

            /// Builder for serializing an instance of the [InMemfd] type.
            ///
            /// Can be created using the [InMemfd::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct InMemfdBuilder<State>(State);

            impl InMemfdBuilder<()> {
                /// Setter for the [`bytes` field](InMemfd#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T0>(self, value: T0) -> InMemfdBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    InMemfdBuilder((value,))
                }

                /// Sets the [`bytes` field](InMemfd#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(self) -> InMemfdBuilder<(::planus::DefaultValue,)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0> InMemfdBuilder<(T0,)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [InMemfd].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<InMemfd>
                where
                    Self: ::planus::WriteAsOffset<InMemfd>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAs<::planus::Offset<InMemfd>> for InMemfdBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<InMemfd>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<InMemfd> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>>
                ::planus::WriteAsOptional<::planus::Offset<InMemfd>> for InMemfdBuilder<(T0,)>
            {
                type Prepared = ::planus::Offset<InMemfd>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<InMemfd>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<T0: ::planus::WriteAsDefault<u64, u64>> ::planus::WriteAsOffset<InMemfd>
                for InMemfdBuilder<(T0,)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<InMemfd> {
                    let (v0,) = &self.0;
                    InMemfd::create(builder, v0)
                }
            }

            /// Reference to a deserialized [InMemfd].
            #[derive(Copy, Clone)]
            pub struct InMemfdRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> InMemfdRef<'a> {
                /// Getter for the [`bytes` field](InMemfd#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(0, "InMemfd", "bytes")?.unwrap_or(0))
                }
            }

            impl<'a> ::core::fmt::Debug for InMemfdRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("InMemfdRef");
                    f.field("bytes", &self.bytes());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<InMemfdRef<'a>> for InMemfd {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: InMemfdRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for InMemfdRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for InMemfdRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[InMemfdRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<InMemfd>> for InMemfd {
                type Value = ::planus::Offset<InMemfd>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<InMemfd>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for InMemfdRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[InMemfdRef]", "read_as_root", 0)
                    })
                }
            }

            /// The union `ReplyBody` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Union `ReplyBody` in the file `schema/wire.fbs:339`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub enum ReplyBody {
                /// The variant of type `Failure` in the union `ReplyBody`
                Failure(::planus::alloc::boxed::Box<self::Failure>),

                /// The variant of type `Done` in the union `ReplyBody`
                Done(::planus::alloc::boxed::Box<self::Done>),

                /// The variant of type `Welcome` in the union `ReplyBody`
                Welcome(::planus::alloc::boxed::Box<self::Welcome>),

                /// The variant of type `Claimed` in the union `ReplyBody`
                Claimed(::planus::alloc::boxed::Box<self::Claimed>),

                /// The variant of type `TensorReply` in the union `ReplyBody`
                TensorReply(::planus::alloc::boxed::Box<self::TensorReply>),

                /// The variant of type `Published` in the union `ReplyBody`
                Published(::planus::alloc::boxed::Box<self::Published>),

                /// The variant of type `TensorDetails` in the union `ReplyBody`
                TensorDetails(::planus::alloc::boxed::Box<self::TensorDetails>),

                /// The variant of type `Tensors` in the union `ReplyBody`
                Tensors(::planus::alloc::boxed::Box<self::Tensors>),

                /// The variant of type `Clients` in the union `ReplyBody`
                Clients(::planus::alloc::boxed::Box<self::Clients>),

                /// The variant of type `Status` in the union `ReplyBody`
                Status(::planus::alloc::boxed::Box<self::Status>),

                /// The variant of type `Event` in the union `ReplyBody`
                Event(::planus::alloc::boxed::Box<self::Event>),

                /// The variant of type `InMemfd` in the union `ReplyBody`
                InMemfd(::planus::alloc::boxed::Box<self::InMemfd>),

                /// The variant of type `Moved` in the union `ReplyBody`
                Moved(::planus::alloc::boxed::Box<self::Moved>),

                /// The variant of type `Collected` in the union `ReplyBody`
                Collected(::planus::alloc::boxed::Box<self::Collected>),

                /// The variant of type `Upgrading` in the union `ReplyBody`
                Upgrading(::planus::alloc::boxed::Box<self::Upgrading>),
            }

            impl ReplyBody {
                /// Creates a [ReplyBodyBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ReplyBodyBuilder<::planus::Uninitialized> {
                    ReplyBodyBuilder(::planus::Uninitialized)
                }

                #[inline]
                pub fn create_failure(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Failure>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(1, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_done(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Done>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(2, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_welcome(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Welcome>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(3, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_claimed(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Claimed>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(4, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_reply(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorReply>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(5, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_published(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Published>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(6, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensor_details(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::TensorDetails>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(7, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_tensors(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Tensors>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(8, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_clients(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Clients>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(9, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_status(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Status>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(10, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_event(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Event>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(11, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_in_memfd(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::InMemfd>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(12, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_moved(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Moved>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(13, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_collected(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Collected>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(14, value.prepare(builder).downcast())
                }

                #[inline]
                pub fn create_upgrading(
                    builder: &mut ::planus::Builder,
                    value: impl ::planus::WriteAsOffset<self::Upgrading>,
                ) -> ::planus::UnionOffset<Self> {
                    ::planus::UnionOffset::new(15, value.prepare(builder).downcast())
                }
            }

            impl ::planus::WriteAsUnion<ReplyBody> for ReplyBody {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::UnionOffset<Self> {
                    match self {
                        Self::Failure(value) => Self::create_failure(builder, value),
                        Self::Done(value) => Self::create_done(builder, value),
                        Self::Welcome(value) => Self::create_welcome(builder, value),
                        Self::Claimed(value) => Self::create_claimed(builder, value),
                        Self::TensorReply(value) => Self::create_tensor_reply(builder, value),
                        Self::Published(value) => Self::create_published(builder, value),
                        Self::TensorDetails(value) => Self::create_tensor_details(builder, value),
                        Self::Tensors(value) => Self::create_tensors(builder, value),
                        Self::Clients(value) => Self::create_clients(builder, value),
                        Self::Status(value) => Self::create_status(builder, value),
                        Self::Event(value) => Self::create_event(builder, value),
                        Self::InMemfd(value) => Self::create_in_memfd(builder, value),
                        Self::Moved(value) => Self::create_moved(builder, value),
                        Self::Collected(value) => Self::create_collected(builder, value),
                        Self::Upgrading(value) => Self::create_upgrading(builder, value),
                    }
                }
            }

            impl ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBody {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<Self>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }

            /// Builder for serializing an instance of the [ReplyBody] type.
            ///
            /// Can be created using the [ReplyBody::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ReplyBodyBuilder<T>(T);

            impl ReplyBodyBuilder<::planus::Uninitialized> {
                /// Creates an instance of the [`Failure` variant](ReplyBody#variant.Failure).
                #[inline]
                pub fn failure<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<1, T>>
                where
                    T: ::planus::WriteAsOffset<self::Failure>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Done` variant](ReplyBody#variant.Done).
                #[inline]
                pub fn done<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<2, T>>
                where
                    T: ::planus::WriteAsOffset<self::Done>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Welcome` variant](ReplyBody#variant.Welcome).
                #[inline]
                pub fn welcome<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<3, T>>
                where
                    T: ::planus::WriteAsOffset<self::Welcome>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Claimed` variant](ReplyBody#variant.Claimed).
                #[inline]
                pub fn claimed<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<4, T>>
                where
                    T: ::planus::WriteAsOffset<self::Claimed>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorReply` variant](ReplyBody#variant.TensorReply).
                #[inline]
                pub fn tensor_reply<T>(
                    self,
                    value: T,
                ) -> ReplyBodyBuilder<::planus::Initialized<5, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorReply>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Published` variant](ReplyBody#variant.Published).
                #[inline]
                pub fn published<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<6, T>>
                where
                    T: ::planus::WriteAsOffset<self::Published>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`TensorDetails` variant](ReplyBody#variant.TensorDetails).
                #[inline]
                pub fn tensor_details<T>(
                    self,
                    value: T,
                ) -> ReplyBodyBuilder<::planus::Initialized<7, T>>
                where
                    T: ::planus::WriteAsOffset<self::TensorDetails>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Tensors` variant](ReplyBody#variant.Tensors).
                #[inline]
                pub fn tensors<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<8, T>>
                where
                    T: ::planus::WriteAsOffset<self::Tensors>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Clients` variant](ReplyBody#variant.Clients).
                #[inline]
                pub fn clients<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<9, T>>
                where
                    T: ::planus::WriteAsOffset<self::Clients>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Status` variant](ReplyBody#variant.Status).
                #[inline]
                pub fn status<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<10, T>>
                where
                    T: ::planus::WriteAsOffset<self::Status>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Event` variant](ReplyBody#variant.Event).
                #[inline]
                pub fn event<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<11, T>>
                where
                    T: ::planus::WriteAsOffset<self::Event>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`InMemfd` variant](ReplyBody#variant.InMemfd).
                #[inline]
                pub fn in_memfd<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<12, T>>
                where
                    T: ::planus::WriteAsOffset<self::InMemfd>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Moved` variant](ReplyBody#variant.Moved).
                #[inline]
                pub fn moved<T>(self, value: T) -> ReplyBodyBuilder<::planus::Initialized<13, T>>
                where
                    T: ::planus::WriteAsOffset<self::Moved>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Collected` variant](ReplyBody#variant.Collected).
                #[inline]
                pub fn collected<T>(
                    self,
                    value: T,
                ) -> ReplyBodyBuilder<::planus::Initialized<14, T>>
                where
                    T: ::planus::WriteAsOffset<self::Collected>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }

                /// Creates an instance of the [`Upgrading` variant](ReplyBody#variant.Upgrading).
                #[inline]
                pub fn upgrading<T>(
                    self,
                    value: T,
                ) -> ReplyBodyBuilder<::planus::Initialized<15, T>>
                where
                    T: ::planus::WriteAsOffset<self::Upgrading>,
                {
                    ReplyBodyBuilder(::planus::Initialized(value))
                }
            }

            impl<const N: u8, T> ReplyBodyBuilder<::planus::Initialized<N, T>> {
                /// Finish writing the builder to get an [UnionOffset](::planus::UnionOffset) to a serialized [ReplyBody].
                #[inline]
                pub fn finish(
                    self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody>
                where
                    Self: ::planus::WriteAsUnion<ReplyBody>,
                {
                    ::planus::WriteAsUnion::prepare(&self, builder)
                }
            }

            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<1, T>>
            where
                T: ::planus::WriteAsOffset<self::Failure>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(1, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<1, T>>
            where
                T: ::planus::WriteAsOffset<self::Failure>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<2, T>>
            where
                T: ::planus::WriteAsOffset<self::Done>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(2, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<2, T>>
            where
                T: ::planus::WriteAsOffset<self::Done>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<3, T>>
            where
                T: ::planus::WriteAsOffset<self::Welcome>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(3, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<3, T>>
            where
                T: ::planus::WriteAsOffset<self::Welcome>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<4, T>>
            where
                T: ::planus::WriteAsOffset<self::Claimed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(4, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<4, T>>
            where
                T: ::planus::WriteAsOffset<self::Claimed>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<5, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorReply>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(5, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<5, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorReply>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<6, T>>
            where
                T: ::planus::WriteAsOffset<self::Published>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(6, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<6, T>>
            where
                T: ::planus::WriteAsOffset<self::Published>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<7, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorDetails>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(7, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<7, T>>
            where
                T: ::planus::WriteAsOffset<self::TensorDetails>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<8, T>>
            where
                T: ::planus::WriteAsOffset<self::Tensors>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(8, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<8, T>>
            where
                T: ::planus::WriteAsOffset<self::Tensors>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<9, T>>
            where
                T: ::planus::WriteAsOffset<self::Clients>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(9, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<9, T>>
            where
                T: ::planus::WriteAsOffset<self::Clients>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<10, T>>
            where
                T: ::planus::WriteAsOffset<self::Status>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(10, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<10, T>>
            where
                T: ::planus::WriteAsOffset<self::Status>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<11, T>>
            where
                T: ::planus::WriteAsOffset<self::Event>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(11, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<11, T>>
            where
                T: ::planus::WriteAsOffset<self::Event>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<12, T>>
            where
                T: ::planus::WriteAsOffset<self::InMemfd>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(12, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<12, T>>
            where
                T: ::planus::WriteAsOffset<self::InMemfd>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<13, T>>
            where
                T: ::planus::WriteAsOffset<self::Moved>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(13, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<13, T>>
            where
                T: ::planus::WriteAsOffset<self::Moved>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<14, T>>
            where
                T: ::planus::WriteAsOffset<self::Collected>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(14, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<14, T>>
            where
                T: ::planus::WriteAsOffset<self::Collected>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }
            impl<T> ::planus::WriteAsUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<15, T>>
            where
                T: ::planus::WriteAsOffset<self::Upgrading>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::planus::UnionOffset<ReplyBody> {
                    ::planus::UnionOffset::new(15, (self.0).0.prepare(builder).downcast())
                }
            }

            impl<T> ::planus::WriteAsOptionalUnion<ReplyBody> for ReplyBodyBuilder<::planus::Initialized<15, T>>
            where
                T: ::planus::WriteAsOffset<self::Upgrading>,
            {
                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::UnionOffset<ReplyBody>> {
                    ::core::option::Option::Some(::planus::WriteAsUnion::prepare(self, builder))
                }
            }

            /// Reference to a deserialized [ReplyBody].
            #[derive(Copy, Clone, Debug)]
            pub enum ReplyBodyRef<'a> {
                Failure(self::FailureRef<'a>),
                Done(self::DoneRef<'a>),
                Welcome(self::WelcomeRef<'a>),
                Claimed(self::ClaimedRef<'a>),
                TensorReply(self::TensorReplyRef<'a>),
                Published(self::PublishedRef<'a>),
                TensorDetails(self::TensorDetailsRef<'a>),
                Tensors(self::TensorsRef<'a>),
                Clients(self::ClientsRef<'a>),
                Status(self::StatusRef<'a>),
                Event(self::EventRef<'a>),
                InMemfd(self::InMemfdRef<'a>),
                Moved(self::MovedRef<'a>),
                Collected(self::CollectedRef<'a>),
                Upgrading(self::UpgradingRef<'a>),
            }

            impl<'a> ::core::convert::TryFrom<ReplyBodyRef<'a>> for ReplyBody {
                type Error = ::planus::Error;

                fn try_from(value: ReplyBodyRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(match value {
                        ReplyBodyRef::Failure(value) => {
                            Self::Failure(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Done(value) => Self::Done(::planus::alloc::boxed::Box::new(
                            ::core::convert::TryFrom::try_from(value)?,
                        )),

                        ReplyBodyRef::Welcome(value) => {
                            Self::Welcome(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Claimed(value) => {
                            Self::Claimed(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::TensorReply(value) => {
                            Self::TensorReply(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Published(value) => {
                            Self::Published(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::TensorDetails(value) => {
                            Self::TensorDetails(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Tensors(value) => {
                            Self::Tensors(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Clients(value) => {
                            Self::Clients(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Status(value) => {
                            Self::Status(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Event(value) => {
                            Self::Event(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::InMemfd(value) => {
                            Self::InMemfd(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Moved(value) => {
                            Self::Moved(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Collected(value) => {
                            Self::Collected(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }

                        ReplyBodyRef::Upgrading(value) => {
                            Self::Upgrading(::planus::alloc::boxed::Box::new(
                                ::core::convert::TryFrom::try_from(value)?,
                            ))
                        }
                    })
                }
            }

            impl<'a> ::planus::TableReadUnion<'a> for ReplyBodyRef<'a> {
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    tag: u8,
                    field_offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    match tag {
                        1 => ::core::result::Result::Ok(Self::Failure(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        2 => ::core::result::Result::Ok(Self::Done(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        3 => ::core::result::Result::Ok(Self::Welcome(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        4 => ::core::result::Result::Ok(Self::Claimed(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        5 => ::core::result::Result::Ok(Self::TensorReply(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        6 => ::core::result::Result::Ok(Self::Published(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        7 => ::core::result::Result::Ok(Self::TensorDetails(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        8 => ::core::result::Result::Ok(Self::Tensors(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        9 => ::core::result::Result::Ok(Self::Clients(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        10 => ::core::result::Result::Ok(Self::Status(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        11 => ::core::result::Result::Ok(Self::Event(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        12 => ::core::result::Result::Ok(Self::InMemfd(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        13 => ::core::result::Result::Ok(Self::Moved(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        14 => ::core::result::Result::Ok(Self::Collected(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        15 => ::core::result::Result::Ok(Self::Upgrading(
                            ::planus::TableRead::from_buffer(buffer, field_offset)?,
                        )),
                        _ => ::core::result::Result::Err(
                            ::planus::errors::ErrorKind::UnknownUnionTag { tag },
                        ),
                    }
                }
            }

            impl<'a> ::planus::VectorReadUnion<'a> for ReplyBodyRef<'a> {
                const VECTOR_NAME: &'static str = "[ReplyBodyRef]";
            }

            /// The table `Reply` in the namespace `millpond.wire`
            ///
            /// Generated from these locations:
            /// * Table `Reply` in the file `schema/wire.fbs:357`
            #[derive(
                Clone,
                Debug,
                PartialEq,
                PartialOrd,
                Eq,
                Ord,
                Hash,
                ::serde::Serialize,
                ::serde::Deserialize,
            )]
            pub struct Reply {
                /// The field `number` in the table `Reply`
                pub number: u64,
                /// The field `body` in the table `Reply`
                pub body: ::core::option::Option<self::ReplyBody>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Reply {
                fn default() -> Self {
                    Self {
                        number: 0,
                        body: ::core::default::Default::default(),
                    }
                }
            }

            impl Reply {
                /// Creates a [ReplyBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ReplyBuilder<()> {
                    ReplyBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_number: impl ::planus::WriteAsDefault<u64, u64>,
                    field_body: impl ::planus::WriteAsOptionalUnion<self::ReplyBody>,
                ) -> ::planus::Offset<Self> {
                    let prepared_number = field_number.prepare(builder, &0);
                    let prepared_body = field_body.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<10> =
                        ::core::default::Default::default();
                    if prepared_number.is_some() {
                        table_writer.write_entry::<u64>(0);
                    }
                    if prepared_body.is_some() {
                        table_writer.write_entry::<::planus::Offset<self::ReplyBody>>(2);
                    }
                    if prepared_body.is_some() {
                        table_writer.write_entry::<u8>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_number) = prepared_number {
                                object_writer.write::<_, _, 8>(&prepared_number);
                            }
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

            impl ::planus::WriteAs<::planus::Offset<Reply>> for Reply {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Reply> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Reply>> for Reply {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Reply>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Reply> for Reply {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Reply> {
                    Reply::create(builder, self.number, &self.body)
                }
            }

            /// Builder for serializing an instance of the [Reply] type.
            ///
            /// Can be created using the [Reply::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ReplyBuilder<State>(State);

            impl ReplyBuilder<()> {
                /// Setter for the [`number` field](Reply#structfield.number).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn number<T0>(self, value: T0) -> ReplyBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u64, u64>,
                {
                    ReplyBuilder((value,))
                }

                /// Sets the [`number` field](Reply#structfield.number) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn number_as_default(self) -> ReplyBuilder<(::planus::DefaultValue,)> {
                    self.number(::planus::DefaultValue)
                }
            }

            impl<T0> ReplyBuilder<(T0,)> {
                /// Setter for the [`body` field](Reply#structfield.body).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn body<T1>(self, value: T1) -> ReplyBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptionalUnion<self::ReplyBody>,
                {
                    let (v0,) = self.0;
                    ReplyBuilder((v0, value))
                }

                /// Sets the [`body` field](Reply#structfield.body) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn body_as_null(self) -> ReplyBuilder<(T0, ())> {
                    self.body(())
                }
            }

            impl<T0, T1> ReplyBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Reply].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Reply>
                where
                    Self: ::planus::WriteAsOffset<Reply>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptionalUnion<self::ReplyBody>,
            > ::planus::WriteAs<::planus::Offset<Reply>> for ReplyBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Reply>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Reply> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptionalUnion<self::ReplyBody>,
            > ::planus::WriteAsOptional<::planus::Offset<Reply>> for ReplyBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Reply>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Reply>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u64, u64>,
                T1: ::planus::WriteAsOptionalUnion<self::ReplyBody>,
            > ::planus::WriteAsOffset<Reply> for ReplyBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Reply> {
                    let (v0, v1) = &self.0;
                    Reply::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [Reply].
            #[derive(Copy, Clone)]
            pub struct ReplyRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ReplyRef<'a> {
                /// Getter for the [`number` field](Reply#structfield.number).
                #[inline]
                pub fn number(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(0, "Reply", "number")?.unwrap_or(0))
                }

                /// Getter for the [`body` field](Reply#structfield.body).
                #[inline]
                pub fn body(
                    &self,
                ) -> ::planus::Result<::core::option::Option<self::ReplyBodyRef<'a>>>
                {
                    self.0.access_union(1, "Reply", "body")
                }
            }

            impl<'a> ::core::fmt::Debug for ReplyRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ReplyRef");
                    f.field("number", &self.number());
                    if let ::core::option::Option::Some(field_body) = self.body().transpose() {
                        f.field("body", &field_body);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ReplyRef<'a>> for Reply {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ReplyRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        number: ::core::convert::TryInto::try_into(value.number()?)?,
                        body: if let ::core::option::Option::Some(body) = value.body()? {
                            ::core::option::Option::Some(::core::convert::TryInto::try_into(body)?)
                        } else {
                            ::core::option::Option::None
                        },
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ReplyRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ReplyRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ReplyRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Reply>> for Reply {
                type Value = ::planus::Offset<Reply>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Reply>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ReplyRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ReplyRef]", "read_as_root", 0)
                    })
                }
            }
        }
    }
}
