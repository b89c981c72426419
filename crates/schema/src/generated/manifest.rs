// Generated from manifest.fbs by scripts/generate. Do not edit.
pub use root::*;

const _: () = ::planus::check_version_compatibility("planus-1.3.0");

/// The root namespace
///
/// Generated from these locations:
/// * File `schema/manifest.fbs`
#[no_implicit_prelude]
#[allow(clippy::needless_lifetimes)]
mod root {
    /// The namespace `millpond`
    ///
    /// Generated from these locations:
    /// * File `schema/manifest.fbs`
    pub mod millpond {
        /// The namespace `millpond.manifest`
        ///
        /// Generated from these locations:
        /// * File `schema/manifest.fbs`
        pub mod manifest {
            /// The struct `Hash` in the namespace `millpond.manifest`
            ///
            /// Generated from these locations:
            /// * Struct `Hash` in the file `schema/manifest.fbs:6`
            #[derive(Copy, Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash, Default)]
            pub struct Hash {
                /// The field `high` in the struct `Hash`
                pub high: u64,

                /// The field `low` in the struct `Hash`
                pub low: u64,
            }

            /// # Safety
            /// The Planus compiler correctly calculates `ALIGNMENT` and `SIZE`.
            unsafe impl ::planus::Primitive for Hash {
                const ALIGNMENT: usize = 8;
                const SIZE: usize = 16;
            }

            #[allow(clippy::identity_op)]
            impl ::planus::WriteAsPrimitive<Hash> for Hash {
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

            impl ::planus::WriteAsOffset<Hash> for Hash {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Hash> {
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

            impl ::planus::WriteAs<Hash> for Hash {
                type Prepared = Self;
                #[inline]
                fn prepare(&self, _builder: &mut ::planus::Builder) -> Self {
                    *self
                }
            }

            impl ::planus::WriteAsOptional<Hash> for Hash {
                type Prepared = Self;
                #[inline]
                fn prepare(
                    &self,
                    _builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<Self> {
                    ::core::option::Option::Some(*self)
                }
            }

            /// Reference to a deserialized [Hash].
            #[derive(Copy, Clone)]
            pub struct HashRef<'a>(::planus::ArrayWithStartOffset<'a, 16>);

            impl<'a> HashRef<'a> {
                /// Getter for the [`high` field](Hash#structfield.high).
                pub fn high(&self) -> u64 {
                    let buffer = self.0.advance_as_array::<8>(0).unwrap();

                    u64::from_le_bytes(*buffer.as_array())
                }

                /// Getter for the [`low` field](Hash#structfield.low).
                pub fn low(&self) -> u64 {
                    let buffer = self.0.advance_as_array::<8>(8).unwrap();

                    u64::from_le_bytes(*buffer.as_array())
                }
            }

            impl<'a> ::core::fmt::Debug for HashRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("HashRef");
                    f.field("high", &self.high());
                    f.field("low", &self.low());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::From<::planus::ArrayWithStartOffset<'a, 16>> for HashRef<'a> {
                fn from(array: ::planus::ArrayWithStartOffset<'a, 16>) -> Self {
                    Self(array)
                }
            }

            impl<'a> ::core::convert::From<HashRef<'a>> for Hash {
                #[allow(unreachable_code)]
                fn from(value: HashRef<'a>) -> Self {
                    Self {
                        high: value.high(),
                        low: value.low(),
                    }
                }
            }

            impl<'a, 'b> ::core::cmp::PartialEq<HashRef<'a>> for HashRef<'b> {
                fn eq(&self, other: &HashRef<'_>) -> bool {
                    self.high() == other.high() && self.low() == other.low()
                }
            }

            impl<'a> ::core::cmp::Eq for HashRef<'a> {}
            impl<'a, 'b> ::core::cmp::PartialOrd<HashRef<'a>> for HashRef<'b> {
                fn partial_cmp(
                    &self,
                    other: &HashRef<'_>,
                ) -> ::core::option::Option<::core::cmp::Ordering> {
                    ::core::option::Option::Some(::core::cmp::Ord::cmp(self, other))
                }
            }

            impl<'a> ::core::cmp::Ord for HashRef<'a> {
                fn cmp(&self, other: &HashRef<'_>) -> ::core::cmp::Ordering {
                    self.high()
                        .cmp(&other.high())
                        .then_with(|| self.low().cmp(&other.low()))
                }
            }

            impl<'a> ::core::hash::Hash for HashRef<'a> {
                fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                    self.high().hash(state);
                    self.low().hash(state);
                }
            }

            impl<'a> ::planus::TableRead<'a> for HashRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    let buffer = buffer.advance_as_array::<16>(offset)?;
                    ::core::result::Result::Ok(Self(buffer))
                }
            }

            impl<'a> ::planus::VectorRead<'a> for HashRef<'a> {
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
            unsafe impl ::planus::VectorWrite<Hash> for Hash {
                const STRIDE: usize = 16;

                type Value = Hash;

                #[inline]
                fn prepare(&self, _builder: &mut ::planus::Builder) -> Self::Value {
                    *self
                }

                #[inline]
                unsafe fn write_values(
                    values: &[Hash],
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

            /// The struct `Slab` in the namespace `millpond.manifest`
            ///
            /// Generated from these locations:
            /// * Struct `Slab` in the file `schema/manifest.fbs:11`
            #[derive(Copy, Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash, Default)]
            pub struct Slab {
                /// The field `arena_offset` in the struct `Slab`
                pub arena_offset: u64,

                /// The field `bytes` in the struct `Slab`
                pub bytes: u64,

                /// The field `hash` in the struct `Slab`
                pub hash: self::Hash,
            }

            /// # Safety
            /// The Planus compiler correctly calculates `ALIGNMENT` and `SIZE`.
            unsafe impl ::planus::Primitive for Slab {
                const ALIGNMENT: usize = 8;
                const SIZE: usize = 32;
            }

            #[allow(clippy::identity_op)]
            impl ::planus::WriteAsPrimitive<Slab> for Slab {
                #[inline]
                fn write<const N: usize>(
                    &self,
                    cursor: ::planus::Cursor<'_, N>,
                    buffer_position: u32,
                ) {
                    let (cur, cursor) = cursor.split::<8, 24>();
                    self.arena_offset.write(cur, buffer_position - 0);
                    let (cur, cursor) = cursor.split::<8, 16>();
                    self.bytes.write(cur, buffer_position - 8);
                    let (cur, cursor) = cursor.split::<16, 0>();
                    self.hash.write(cur, buffer_position - 16);
                    cursor.finish([]);
                }
            }

            impl ::planus::WriteAsOffset<Slab> for Slab {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Slab> {
                    unsafe {
                        builder.write_with(32, 7, |buffer_position, bytes| {
                            let bytes = bytes.as_mut_ptr();

                            ::planus::WriteAsPrimitive::write(
                                self,
                                ::planus::Cursor::new(
                                    &mut *(bytes as *mut [::core::mem::MaybeUninit<u8>; 32]),
                                ),
                                buffer_position,
                            );
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<Slab> for Slab {
                type Prepared = Self;
                #[inline]
                fn prepare(&self, _builder: &mut ::planus::Builder) -> Self {
                    *self
                }
            }

            impl ::planus::WriteAsOptional<Slab> for Slab {
                type Prepared = Self;
                #[inline]
                fn prepare(
                    &self,
                    _builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<Self> {
                    ::core::option::Option::Some(*self)
                }
            }

            /// Reference to a deserialized [Slab].
            #[derive(Copy, Clone)]
            pub struct SlabRef<'a>(::planus::ArrayWithStartOffset<'a, 32>);

            impl<'a> SlabRef<'a> {
                /// Getter for the [`arena_offset` field](Slab#structfield.arena_offset).
                pub fn arena_offset(&self) -> u64 {
                    let buffer = self.0.advance_as_array::<8>(0).unwrap();

                    u64::from_le_bytes(*buffer.as_array())
                }

                /// Getter for the [`bytes` field](Slab#structfield.bytes).
                pub fn bytes(&self) -> u64 {
                    let buffer = self.0.advance_as_array::<8>(8).unwrap();

                    u64::from_le_bytes(*buffer.as_array())
                }

                /// Getter for the [`hash` field](Slab#structfield.hash).
                pub fn hash(&self) -> self::HashRef<'a> {
                    let buffer = self.0.advance_as_array::<16>(16).unwrap();

                    ::core::convert::From::from(buffer)
                }
            }

            impl<'a> ::core::fmt::Debug for SlabRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("SlabRef");
                    f.field("arena_offset", &self.arena_offset());
                    f.field("bytes", &self.bytes());
                    f.field("hash", &self.hash());
                    f.finish()
                }
            }

            impl<'a> ::core::convert::From<::planus::ArrayWithStartOffset<'a, 32>> for SlabRef<'a> {
                fn from(array: ::planus::ArrayWithStartOffset<'a, 32>) -> Self {
                    Self(array)
                }
            }

            impl<'a> ::core::convert::From<SlabRef<'a>> for Slab {
                #[allow(unreachable_code)]
                fn from(value: SlabRef<'a>) -> Self {
                    Self {
                        arena_offset: value.arena_offset(),
                        bytes: value.bytes(),
                        hash: ::core::convert::From::from(value.hash()),
                    }
                }
            }

            impl<'a, 'b> ::core::cmp::PartialEq<SlabRef<'a>> for SlabRef<'b> {
                fn eq(&self, other: &SlabRef<'_>) -> bool {
                    self.arena_offset() == other.arena_offset()
                        && self.bytes() == other.bytes()
                        && self.hash() == other.hash()
                }
            }

            impl<'a> ::core::cmp::Eq for SlabRef<'a> {}
            impl<'a, 'b> ::core::cmp::PartialOrd<SlabRef<'a>> for SlabRef<'b> {
                fn partial_cmp(
                    &self,
                    other: &SlabRef<'_>,
                ) -> ::core::option::Option<::core::cmp::Ordering> {
                    ::core::option::Option::Some(::core::cmp::Ord::cmp(self, other))
                }
            }

            impl<'a> ::core::cmp::Ord for SlabRef<'a> {
                fn cmp(&self, other: &SlabRef<'_>) -> ::core::cmp::Ordering {
                    self.arena_offset()
                        .cmp(&other.arena_offset())
                        .then_with(|| self.bytes().cmp(&other.bytes()))
                        .then_with(|| self.hash().cmp(&other.hash()))
                }
            }

            impl<'a> ::core::hash::Hash for SlabRef<'a> {
                fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                    self.arena_offset().hash(state);
                    self.bytes().hash(state);
                    self.hash().hash(state);
                }
            }

            impl<'a> ::planus::TableRead<'a> for SlabRef<'a> {
                #[inline]
                fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::core::result::Result<Self, ::planus::errors::ErrorKind> {
                    let buffer = buffer.advance_as_array::<32>(offset)?;
                    ::core::result::Result::Ok(Self(buffer))
                }
            }

            impl<'a> ::planus::VectorRead<'a> for SlabRef<'a> {
                const STRIDE: usize = 32;

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
            unsafe impl ::planus::VectorWrite<Slab> for Slab {
                const STRIDE: usize = 32;

                type Value = Slab;

                #[inline]
                fn prepare(&self, _builder: &mut ::planus::Builder) -> Self::Value {
                    *self
                }

                #[inline]
                unsafe fn write_values(
                    values: &[Slab],
                    bytes: *mut ::core::mem::MaybeUninit<u8>,
                    buffer_position: u32,
                ) {
                    let bytes = bytes as *mut [::core::mem::MaybeUninit<u8>; 32];
                    for (i, v) in ::core::iter::Iterator::enumerate(values.iter()) {
                        ::planus::WriteAsPrimitive::write(
                            v,
                            ::planus::Cursor::new(unsafe { &mut *bytes.add(i) }),
                            buffer_position - (32 * i) as u32,
                        );
                    }
                }
            }

            /// The table `Tensor` in the namespace `millpond.manifest`
            ///
            /// Generated from these locations:
            /// * Table `Tensor` in the file `schema/manifest.fbs:17`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Tensor {
                /// The field `name` in the table `Tensor`
                pub name: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `dtype` in the table `Tensor`
                pub dtype: u8,
                /// The field `shape` in the table `Tensor`
                pub shape: ::core::option::Option<::planus::alloc::vec::Vec<u64>>,
                /// The field `slab` in the table `Tensor`
                pub slab: u32,
                /// The field `offset` in the table `Tensor`
                pub offset: u64,
                /// The field `bytes` in the table `Tensor`
                pub bytes: u64,
                /// The field `hash` in the table `Tensor`
                pub hash: ::core::option::Option<self::Hash>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Tensor {
                fn default() -> Self {
                    Self {
                        name: ::core::default::Default::default(),
                        dtype: 0,
                        shape: ::core::default::Default::default(),
                        slab: 0,
                        offset: 0,
                        bytes: 0,
                        hash: ::core::default::Default::default(),
                    }
                }
            }

            impl Tensor {
                /// Creates a [TensorBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> TensorBuilder<()> {
                    TensorBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_name: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_dtype: impl ::planus::WriteAsDefault<u8, u8>,
                    field_shape: impl ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                    field_slab: impl ::planus::WriteAsDefault<u32, u32>,
                    field_offset: impl ::planus::WriteAsDefault<u64, u64>,
                    field_bytes: impl ::planus::WriteAsDefault<u64, u64>,
                    field_hash: impl ::planus::WriteAsOptional<self::Hash>,
                ) -> ::planus::Offset<Self> {
                    let prepared_name = field_name.prepare(builder);
                    let prepared_dtype = field_dtype.prepare(builder, &0);
                    let prepared_shape = field_shape.prepare(builder);
                    let prepared_slab = field_slab.prepare(builder, &0);
                    let prepared_offset = field_offset.prepare(builder, &0);
                    let prepared_bytes = field_bytes.prepare(builder, &0);
                    let prepared_hash = field_hash.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<18> =
                        ::core::default::Default::default();
                    if prepared_offset.is_some() {
                        table_writer.write_entry::<u64>(4);
                    }
                    if prepared_bytes.is_some() {
                        table_writer.write_entry::<u64>(5);
                    }
                    if prepared_hash.is_some() {
                        table_writer.write_entry::<self::Hash>(6);
                    }
                    if prepared_name.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }
                    if prepared_shape.is_some() {
                        table_writer.write_entry::<::planus::Offset<[u64]>>(2);
                    }
                    if prepared_slab.is_some() {
                        table_writer.write_entry::<u32>(3);
                    }
                    if prepared_dtype.is_some() {
                        table_writer.write_entry::<u8>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_offset) = prepared_offset {
                                object_writer.write::<_, _, 8>(&prepared_offset);
                            }
                            if let ::core::option::Option::Some(prepared_bytes) = prepared_bytes {
                                object_writer.write::<_, _, 8>(&prepared_bytes);
                            }
                            if let ::core::option::Option::Some(prepared_hash) = prepared_hash {
                                object_writer.write::<_, _, 16>(&prepared_hash);
                            }
                            if let ::core::option::Option::Some(prepared_name) = prepared_name {
                                object_writer.write::<_, _, 4>(&prepared_name);
                            }
                            if let ::core::option::Option::Some(prepared_shape) = prepared_shape {
                                object_writer.write::<_, _, 4>(&prepared_shape);
                            }
                            if let ::core::option::Option::Some(prepared_slab) = prepared_slab {
                                object_writer.write::<_, _, 4>(&prepared_slab);
                            }
                            if let ::core::option::Option::Some(prepared_dtype) = prepared_dtype {
                                object_writer.write::<_, _, 1>(&prepared_dtype);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Tensor>> for Tensor {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensor> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Tensor>> for Tensor {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Tensor>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Tensor> for Tensor {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensor> {
                    Tensor::create(
                        builder,
                        &self.name,
                        self.dtype,
                        &self.shape,
                        self.slab,
                        self.offset,
                        self.bytes,
                        self.hash,
                    )
                }
            }

            /// Builder for serializing an instance of the [Tensor] type.
            ///
            /// Can be created using the [Tensor::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct TensorBuilder<State>(State);

            impl TensorBuilder<()> {
                /// Setter for the [`name` field](Tensor#structfield.name).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name<T0>(self, value: T0) -> TensorBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    TensorBuilder((value,))
                }

                /// Sets the [`name` field](Tensor#structfield.name) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn name_as_null(self) -> TensorBuilder<((),)> {
                    self.name(())
                }
            }

            impl<T0> TensorBuilder<(T0,)> {
                /// Setter for the [`dtype` field](Tensor#structfield.dtype).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype<T1>(self, value: T1) -> TensorBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsDefault<u8, u8>,
                {
                    let (v0,) = self.0;
                    TensorBuilder((v0, value))
                }

                /// Sets the [`dtype` field](Tensor#structfield.dtype) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn dtype_as_default(self) -> TensorBuilder<(T0, ::planus::DefaultValue)> {
                    self.dtype(::planus::DefaultValue)
                }
            }

            impl<T0, T1> TensorBuilder<(T0, T1)> {
                /// Setter for the [`shape` field](Tensor#structfield.shape).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape<T2>(self, value: T2) -> TensorBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                {
                    let (v0, v1) = self.0;
                    TensorBuilder((v0, v1, value))
                }

                /// Sets the [`shape` field](Tensor#structfield.shape) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn shape_as_null(self) -> TensorBuilder<(T0, T1, ())> {
                    self.shape(())
                }
            }

            impl<T0, T1, T2> TensorBuilder<(T0, T1, T2)> {
                /// Setter for the [`slab` field](Tensor#structfield.slab).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab<T3>(self, value: T3) -> TensorBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsDefault<u32, u32>,
                {
                    let (v0, v1, v2) = self.0;
                    TensorBuilder((v0, v1, v2, value))
                }

                /// Sets the [`slab` field](Tensor#structfield.slab) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slab_as_default(
                    self,
                ) -> TensorBuilder<(T0, T1, T2, ::planus::DefaultValue)> {
                    self.slab(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3> TensorBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`offset` field](Tensor#structfield.offset).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset<T4>(self, value: T4) -> TensorBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    TensorBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`offset` field](Tensor#structfield.offset) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn offset_as_default(
                    self,
                ) -> TensorBuilder<(T0, T1, T2, T3, ::planus::DefaultValue)> {
                    self.offset(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4> TensorBuilder<(T0, T1, T2, T3, T4)> {
                /// Setter for the [`bytes` field](Tensor#structfield.bytes).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes<T5>(self, value: T5) -> TensorBuilder<(T0, T1, T2, T3, T4, T5)>
                where
                    T5: ::planus::WriteAsDefault<u64, u64>,
                {
                    let (v0, v1, v2, v3, v4) = self.0;
                    TensorBuilder((v0, v1, v2, v3, v4, value))
                }

                /// Sets the [`bytes` field](Tensor#structfield.bytes) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn bytes_as_default(
                    self,
                ) -> TensorBuilder<(T0, T1, T2, T3, T4, ::planus::DefaultValue)> {
                    self.bytes(::planus::DefaultValue)
                }
            }

            impl<T0, T1, T2, T3, T4, T5> TensorBuilder<(T0, T1, T2, T3, T4, T5)> {
                /// Setter for the [`hash` field](Tensor#structfield.hash).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn hash<T6>(self, value: T6) -> TensorBuilder<(T0, T1, T2, T3, T4, T5, T6)>
                where
                    T6: ::planus::WriteAsOptional<self::Hash>,
                {
                    let (v0, v1, v2, v3, v4, v5) = self.0;
                    TensorBuilder((v0, v1, v2, v3, v4, v5, value))
                }

                /// Sets the [`hash` field](Tensor#structfield.hash) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn hash_as_null(self) -> TensorBuilder<(T0, T1, T2, T3, T4, T5, ())> {
                    self.hash(())
                }
            }

            impl<T0, T1, T2, T3, T4, T5, T6> TensorBuilder<(T0, T1, T2, T3, T4, T5, T6)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Tensor].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensor>
                where
                    Self: ::planus::WriteAsOffset<Tensor>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsDefault<u8, u8>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<self::Hash>,
            > ::planus::WriteAs<::planus::Offset<Tensor>>
                for TensorBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                type Prepared = ::planus::Offset<Tensor>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensor> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsDefault<u8, u8>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<self::Hash>,
            > ::planus::WriteAsOptional<::planus::Offset<Tensor>>
                for TensorBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                type Prepared = ::planus::Offset<Tensor>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Tensor>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsDefault<u8, u8>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[u64]>>,
                T3: ::planus::WriteAsDefault<u32, u32>,
                T4: ::planus::WriteAsDefault<u64, u64>,
                T5: ::planus::WriteAsDefault<u64, u64>,
                T6: ::planus::WriteAsOptional<self::Hash>,
            > ::planus::WriteAsOffset<Tensor> for TensorBuilder<(T0, T1, T2, T3, T4, T5, T6)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Tensor> {
                    let (v0, v1, v2, v3, v4, v5, v6) = &self.0;
                    Tensor::create(builder, v0, v1, v2, v3, v4, v5, v6)
                }
            }

            /// Reference to a deserialized [Tensor].
            #[derive(Copy, Clone)]
            pub struct TensorRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> TensorRef<'a> {
                /// Getter for the [`name` field](Tensor#structfield.name).
                #[inline]
                pub fn name(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "Tensor", "name")
                }

                /// Getter for the [`dtype` field](Tensor#structfield.dtype).
                #[inline]
                pub fn dtype(&self) -> ::planus::Result<u8> {
                    ::core::result::Result::Ok(self.0.access(1, "Tensor", "dtype")?.unwrap_or(0))
                }

                /// Getter for the [`shape` field](Tensor#structfield.shape).
                #[inline]
                pub fn shape(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, u64>>>
                {
                    self.0.access(2, "Tensor", "shape")
                }

                /// Getter for the [`slab` field](Tensor#structfield.slab).
                #[inline]
                pub fn slab(&self) -> ::planus::Result<u32> {
                    ::core::result::Result::Ok(self.0.access(3, "Tensor", "slab")?.unwrap_or(0))
                }

                /// Getter for the [`offset` field](Tensor#structfield.offset).
                #[inline]
                pub fn offset(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(4, "Tensor", "offset")?.unwrap_or(0))
                }

                /// Getter for the [`bytes` field](Tensor#structfield.bytes).
                #[inline]
                pub fn bytes(&self) -> ::planus::Result<u64> {
                    ::core::result::Result::Ok(self.0.access(5, "Tensor", "bytes")?.unwrap_or(0))
                }

                /// Getter for the [`hash` field](Tensor#structfield.hash).
                #[inline]
                pub fn hash(&self) -> ::planus::Result<::core::option::Option<self::HashRef<'a>>> {
                    self.0.access(6, "Tensor", "hash")
                }
            }

            impl<'a> ::core::fmt::Debug for TensorRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("TensorRef");
                    if let ::core::option::Option::Some(field_name) = self.name().transpose() {
                        f.field("name", &field_name);
                    }
                    f.field("dtype", &self.dtype());
                    if let ::core::option::Option::Some(field_shape) = self.shape().transpose() {
                        f.field("shape", &field_shape);
                    }
                    f.field("slab", &self.slab());
                    f.field("offset", &self.offset());
                    f.field("bytes", &self.bytes());
                    if let ::core::option::Option::Some(field_hash) = self.hash().transpose() {
                        f.field("hash", &field_hash);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<TensorRef<'a>> for Tensor {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: TensorRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        name: value.name()?.map(::core::convert::Into::into),
                        dtype: ::core::convert::TryInto::try_into(value.dtype()?)?,
                        shape: if let ::core::option::Option::Some(shape) = value.shape()? {
                            ::core::option::Option::Some(shape.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        slab: ::core::convert::TryInto::try_into(value.slab()?)?,
                        offset: ::core::convert::TryInto::try_into(value.offset()?)?,
                        bytes: ::core::convert::TryInto::try_into(value.bytes()?)?,
                        hash: value.hash()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for TensorRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for TensorRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[TensorRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Tensor>> for Tensor {
                type Value = ::planus::Offset<Tensor>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Tensor>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for TensorRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[TensorRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Entry` in the namespace `millpond.manifest`
            ///
            /// Generated from these locations:
            /// * Table `Entry` in the file `schema/manifest.fbs:28`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Entry {
                /// The field `key` in the table `Entry`
                pub key: ::core::option::Option<::planus::alloc::string::String>,
                /// The field `value` in the table `Entry`
                pub value: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Entry {
                fn default() -> Self {
                    Self {
                        key: ::core::default::Default::default(),
                        value: ::core::default::Default::default(),
                    }
                }
            }

            impl Entry {
                /// Creates a [EntryBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> EntryBuilder<()> {
                    EntryBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_key: impl ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                    field_value: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_key = field_key.prepare(builder);
                    let prepared_value = field_value.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<8> =
                        ::core::default::Default::default();
                    if prepared_key.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(0);
                    }
                    if prepared_value.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(1);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_key) = prepared_key {
                                object_writer.write::<_, _, 4>(&prepared_key);
                            }
                            if let ::core::option::Option::Some(prepared_value) = prepared_value {
                                object_writer.write::<_, _, 4>(&prepared_value);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Entry>> for Entry {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Entry> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Entry>> for Entry {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Entry>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Entry> for Entry {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Entry> {
                    Entry::create(builder, &self.key, &self.value)
                }
            }

            /// Builder for serializing an instance of the [Entry] type.
            ///
            /// Can be created using the [Entry::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct EntryBuilder<State>(State);

            impl EntryBuilder<()> {
                /// Setter for the [`key` field](Entry#structfield.key).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn key<T0>(self, value: T0) -> EntryBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    EntryBuilder((value,))
                }

                /// Sets the [`key` field](Entry#structfield.key) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn key_as_null(self) -> EntryBuilder<((),)> {
                    self.key(())
                }
            }

            impl<T0> EntryBuilder<(T0,)> {
                /// Setter for the [`value` field](Entry#structfield.value).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn value<T1>(self, value: T1) -> EntryBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0,) = self.0;
                    EntryBuilder((v0, value))
                }

                /// Sets the [`value` field](Entry#structfield.value) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn value_as_null(self) -> EntryBuilder<(T0, ())> {
                    self.value(())
                }
            }

            impl<T0, T1> EntryBuilder<(T0, T1)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Entry].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Entry>
                where
                    Self: ::planus::WriteAsOffset<Entry>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAs<::planus::Offset<Entry>> for EntryBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Entry>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Entry> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOptional<::planus::Offset<Entry>> for EntryBuilder<(T0, T1)>
            {
                type Prepared = ::planus::Offset<Entry>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Entry>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                T1: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOffset<Entry> for EntryBuilder<(T0, T1)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Entry> {
                    let (v0, v1) = &self.0;
                    Entry::create(builder, v0, v1)
                }
            }

            /// Reference to a deserialized [Entry].
            #[derive(Copy, Clone)]
            pub struct EntryRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> EntryRef<'a> {
                /// Getter for the [`key` field](Entry#structfield.key).
                #[inline]
                pub fn key(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(0, "Entry", "key")
                }

                /// Getter for the [`value` field](Entry#structfield.value).
                #[inline]
                pub fn value(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(1, "Entry", "value")
                }
            }

            impl<'a> ::core::fmt::Debug for EntryRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("EntryRef");
                    if let ::core::option::Option::Some(field_key) = self.key().transpose() {
                        f.field("key", &field_key);
                    }
                    if let ::core::option::Option::Some(field_value) = self.value().transpose() {
                        f.field("value", &field_value);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<EntryRef<'a>> for Entry {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: EntryRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        key: value.key()?.map(::core::convert::Into::into),
                        value: value.value()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for EntryRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for EntryRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[EntryRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Entry>> for Entry {
                type Value = ::planus::Offset<Entry>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Entry>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for EntryRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[EntryRef]", "read_as_root", 0)
                    })
                }
            }

            /// The table `Manifest` in the namespace `millpond.manifest`
            ///
            /// Generated from these locations:
            /// * Table `Manifest` in the file `schema/manifest.fbs:33`
            #[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord, Hash)]
            pub struct Manifest {
                /// The field `format` in the table `Manifest`
                pub format: u16,
                /// The field `slabs` in the table `Manifest`
                pub slabs: ::core::option::Option<::planus::alloc::vec::Vec<self::Slab>>,
                /// The field `tensors` in the table `Manifest`
                pub tensors: ::core::option::Option<::planus::alloc::vec::Vec<self::Tensor>>,
                /// The field `metadata` in the table `Manifest`
                pub metadata: ::core::option::Option<::planus::alloc::vec::Vec<self::Entry>>,
                /// The field `source` in the table `Manifest`
                pub source: ::core::option::Option<::planus::alloc::string::String>,
            }

            #[allow(clippy::derivable_impls)]
            impl ::core::default::Default for Manifest {
                fn default() -> Self {
                    Self {
                        format: 0,
                        slabs: ::core::default::Default::default(),
                        tensors: ::core::default::Default::default(),
                        metadata: ::core::default::Default::default(),
                        source: ::core::default::Default::default(),
                    }
                }
            }

            impl Manifest {
                /// Creates a [ManifestBuilder] for serializing an instance of this table.
                #[inline]
                pub fn builder() -> ManifestBuilder<()> {
                    ManifestBuilder(())
                }

                #[allow(clippy::too_many_arguments)]
                pub fn create(
                    builder: &mut ::planus::Builder,
                    field_format: impl ::planus::WriteAsDefault<u16, u16>,
                    field_slabs: impl ::planus::WriteAsOptional<::planus::Offset<[self::Slab]>>,
                    field_tensors: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::Tensor>]>,
                    >,
                    field_metadata: impl ::planus::WriteAsOptional<
                        ::planus::Offset<[::planus::Offset<self::Entry>]>,
                    >,
                    field_source: impl ::planus::WriteAsOptional<
                        ::planus::Offset<::core::primitive::str>,
                    >,
                ) -> ::planus::Offset<Self> {
                    let prepared_format = field_format.prepare(builder, &0);
                    let prepared_slabs = field_slabs.prepare(builder);
                    let prepared_tensors = field_tensors.prepare(builder);
                    let prepared_metadata = field_metadata.prepare(builder);
                    let prepared_source = field_source.prepare(builder);

                    let mut table_writer: ::planus::table_writer::TableWriter<14> =
                        ::core::default::Default::default();
                    if prepared_slabs.is_some() {
                        table_writer.write_entry::<::planus::Offset<[self::Slab]>>(1);
                    }
                    if prepared_tensors.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::Tensor>]>>(2);
                    }
                    if prepared_metadata.is_some() {
                        table_writer
                            .write_entry::<::planus::Offset<[::planus::Offset<self::Entry>]>>(3);
                    }
                    if prepared_source.is_some() {
                        table_writer.write_entry::<::planus::Offset<str>>(4);
                    }
                    if prepared_format.is_some() {
                        table_writer.write_entry::<u16>(0);
                    }

                    unsafe {
                        table_writer.finish(builder, |object_writer| {
                            if let ::core::option::Option::Some(prepared_slabs) = prepared_slabs {
                                object_writer.write::<_, _, 4>(&prepared_slabs);
                            }
                            if let ::core::option::Option::Some(prepared_tensors) = prepared_tensors
                            {
                                object_writer.write::<_, _, 4>(&prepared_tensors);
                            }
                            if let ::core::option::Option::Some(prepared_metadata) =
                                prepared_metadata
                            {
                                object_writer.write::<_, _, 4>(&prepared_metadata);
                            }
                            if let ::core::option::Option::Some(prepared_source) = prepared_source {
                                object_writer.write::<_, _, 4>(&prepared_source);
                            }
                            if let ::core::option::Option::Some(prepared_format) = prepared_format {
                                object_writer.write::<_, _, 2>(&prepared_format);
                            }
                        });
                    }
                    builder.current_offset()
                }
            }

            impl ::planus::WriteAs<::planus::Offset<Manifest>> for Manifest {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Manifest> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl ::planus::WriteAsOptional<::planus::Offset<Manifest>> for Manifest {
                type Prepared = ::planus::Offset<Self>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Manifest>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl ::planus::WriteAsOffset<Manifest> for Manifest {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Manifest> {
                    Manifest::create(
                        builder,
                        self.format,
                        &self.slabs,
                        &self.tensors,
                        &self.metadata,
                        &self.source,
                    )
                }
            }

            /// Builder for serializing an instance of the [Manifest] type.
            ///
            /// Can be created using the [Manifest::builder] method.
            #[derive(Debug)]
            #[must_use]
            pub struct ManifestBuilder<State>(State);

            impl ManifestBuilder<()> {
                /// Setter for the [`format` field](Manifest#structfield.format).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn format<T0>(self, value: T0) -> ManifestBuilder<(T0,)>
                where
                    T0: ::planus::WriteAsDefault<u16, u16>,
                {
                    ManifestBuilder((value,))
                }

                /// Sets the [`format` field](Manifest#structfield.format) to the default value.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn format_as_default(self) -> ManifestBuilder<(::planus::DefaultValue,)> {
                    self.format(::planus::DefaultValue)
                }
            }

            impl<T0> ManifestBuilder<(T0,)> {
                /// Setter for the [`slabs` field](Manifest#structfield.slabs).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slabs<T1>(self, value: T1) -> ManifestBuilder<(T0, T1)>
                where
                    T1: ::planus::WriteAsOptional<::planus::Offset<[self::Slab]>>,
                {
                    let (v0,) = self.0;
                    ManifestBuilder((v0, value))
                }

                /// Sets the [`slabs` field](Manifest#structfield.slabs) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn slabs_as_null(self) -> ManifestBuilder<(T0, ())> {
                    self.slabs(())
                }
            }

            impl<T0, T1> ManifestBuilder<(T0, T1)> {
                /// Setter for the [`tensors` field](Manifest#structfield.tensors).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors<T2>(self, value: T2) -> ManifestBuilder<(T0, T1, T2)>
                where
                    T2: ::planus::WriteAsOptional<
                            ::planus::Offset<[::planus::Offset<self::Tensor>]>,
                        >,
                {
                    let (v0, v1) = self.0;
                    ManifestBuilder((v0, v1, value))
                }

                /// Sets the [`tensors` field](Manifest#structfield.tensors) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn tensors_as_null(self) -> ManifestBuilder<(T0, T1, ())> {
                    self.tensors(())
                }
            }

            impl<T0, T1, T2> ManifestBuilder<(T0, T1, T2)> {
                /// Setter for the [`metadata` field](Manifest#structfield.metadata).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn metadata<T3>(self, value: T3) -> ManifestBuilder<(T0, T1, T2, T3)>
                where
                    T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Entry>]>>,
                {
                    let (v0, v1, v2) = self.0;
                    ManifestBuilder((v0, v1, v2, value))
                }

                /// Sets the [`metadata` field](Manifest#structfield.metadata) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn metadata_as_null(self) -> ManifestBuilder<(T0, T1, T2, ())> {
                    self.metadata(())
                }
            }

            impl<T0, T1, T2, T3> ManifestBuilder<(T0, T1, T2, T3)> {
                /// Setter for the [`source` field](Manifest#structfield.source).
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn source<T4>(self, value: T4) -> ManifestBuilder<(T0, T1, T2, T3, T4)>
                where
                    T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
                {
                    let (v0, v1, v2, v3) = self.0;
                    ManifestBuilder((v0, v1, v2, v3, value))
                }

                /// Sets the [`source` field](Manifest#structfield.source) to null.
                #[inline]
                #[allow(clippy::type_complexity)]
                pub fn source_as_null(self) -> ManifestBuilder<(T0, T1, T2, T3, ())> {
                    self.source(())
                }
            }

            impl<T0, T1, T2, T3, T4> ManifestBuilder<(T0, T1, T2, T3, T4)> {
                /// Finish writing the builder to get an [Offset](::planus::Offset) to a serialized [Manifest].
                #[inline]
                pub fn finish(self, builder: &mut ::planus::Builder) -> ::planus::Offset<Manifest>
                where
                    Self: ::planus::WriteAsOffset<Manifest>,
                {
                    ::planus::WriteAsOffset::prepare(&self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[self::Slab]>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Tensor>]>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Entry>]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAs<::planus::Offset<Manifest>>
                for ManifestBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<Manifest>;

                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Manifest> {
                    ::planus::WriteAsOffset::prepare(self, builder)
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[self::Slab]>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Tensor>]>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Entry>]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOptional<::planus::Offset<Manifest>>
                for ManifestBuilder<(T0, T1, T2, T3, T4)>
            {
                type Prepared = ::planus::Offset<Manifest>;

                #[inline]
                fn prepare(
                    &self,
                    builder: &mut ::planus::Builder,
                ) -> ::core::option::Option<::planus::Offset<Manifest>> {
                    ::core::option::Option::Some(::planus::WriteAsOffset::prepare(self, builder))
                }
            }

            impl<
                T0: ::planus::WriteAsDefault<u16, u16>,
                T1: ::planus::WriteAsOptional<::planus::Offset<[self::Slab]>>,
                T2: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Tensor>]>>,
                T3: ::planus::WriteAsOptional<::planus::Offset<[::planus::Offset<self::Entry>]>>,
                T4: ::planus::WriteAsOptional<::planus::Offset<::core::primitive::str>>,
            > ::planus::WriteAsOffset<Manifest> for ManifestBuilder<(T0, T1, T2, T3, T4)>
            {
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> ::planus::Offset<Manifest> {
                    let (v0, v1, v2, v3, v4) = &self.0;
                    Manifest::create(builder, v0, v1, v2, v3, v4)
                }
            }

            /// Reference to a deserialized [Manifest].
            #[derive(Copy, Clone)]
            pub struct ManifestRef<'a>(#[allow(dead_code)] ::planus::table_reader::Table<'a>);

            impl<'a> ManifestRef<'a> {
                /// Getter for the [`format` field](Manifest#structfield.format).
                #[inline]
                pub fn format(&self) -> ::planus::Result<u16> {
                    ::core::result::Result::Ok(self.0.access(0, "Manifest", "format")?.unwrap_or(0))
                }

                /// Getter for the [`slabs` field](Manifest#structfield.slabs).
                #[inline]
                pub fn slabs(
                    &self,
                ) -> ::planus::Result<::core::option::Option<::planus::Vector<'a, self::SlabRef<'a>>>>
                {
                    self.0.access(1, "Manifest", "slabs")
                }

                /// Getter for the [`tensors` field](Manifest#structfield.tensors).
                #[inline]
                pub fn tensors(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::TensorRef<'a>>>,
                    >,
                > {
                    self.0.access(2, "Manifest", "tensors")
                }

                /// Getter for the [`metadata` field](Manifest#structfield.metadata).
                #[inline]
                pub fn metadata(
                    &self,
                ) -> ::planus::Result<
                    ::core::option::Option<
                        ::planus::Vector<'a, ::planus::Result<self::EntryRef<'a>>>,
                    >,
                > {
                    self.0.access(3, "Manifest", "metadata")
                }

                /// Getter for the [`source` field](Manifest#structfield.source).
                #[inline]
                pub fn source(
                    &self,
                ) -> ::planus::Result<::core::option::Option<&'a ::core::primitive::str>>
                {
                    self.0.access(4, "Manifest", "source")
                }
            }

            impl<'a> ::core::fmt::Debug for ManifestRef<'a> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut f = f.debug_struct("ManifestRef");
                    f.field("format", &self.format());
                    if let ::core::option::Option::Some(field_slabs) = self.slabs().transpose() {
                        f.field("slabs", &field_slabs);
                    }
                    if let ::core::option::Option::Some(field_tensors) = self.tensors().transpose()
                    {
                        f.field("tensors", &field_tensors);
                    }
                    if let ::core::option::Option::Some(field_metadata) =
                        self.metadata().transpose()
                    {
                        f.field("metadata", &field_metadata);
                    }
                    if let ::core::option::Option::Some(field_source) = self.source().transpose() {
                        f.field("source", &field_source);
                    }
                    f.finish()
                }
            }

            impl<'a> ::core::convert::TryFrom<ManifestRef<'a>> for Manifest {
                type Error = ::planus::Error;

                #[allow(unreachable_code)]
                fn try_from(value: ManifestRef<'a>) -> ::planus::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        format: ::core::convert::TryInto::try_into(value.format()?)?,
                        slabs: if let ::core::option::Option::Some(slabs) = value.slabs()? {
                            ::core::option::Option::Some(slabs.to_vec()?)
                        } else {
                            ::core::option::Option::None
                        },
                        tensors: if let ::core::option::Option::Some(tensors) = value.tensors()? {
                            ::core::option::Option::Some(tensors.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        metadata: if let ::core::option::Option::Some(metadata) =
                            value.metadata()?
                        {
                            ::core::option::Option::Some(metadata.to_vec_result()?)
                        } else {
                            ::core::option::Option::None
                        },
                        source: value.source()?.map(::core::convert::Into::into),
                    })
                }
            }

            impl<'a> ::planus::TableRead<'a> for ManifestRef<'a> {
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

            impl<'a> ::planus::VectorReadInner<'a> for ManifestRef<'a> {
                type Error = ::planus::Error;
                const STRIDE: usize = 4;

                unsafe fn from_buffer(
                    buffer: ::planus::SliceWithStartOffset<'a>,
                    offset: usize,
                ) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(buffer, offset).map_err(|error_kind| {
                        error_kind.with_error_location(
                            "[ManifestRef]",
                            "get",
                            buffer.offset_from_start,
                        )
                    })
                }
            }

            /// # Safety
            /// The planus compiler generates implementations that initialize
            /// the bytes in `write_values`.
            unsafe impl ::planus::VectorWrite<::planus::Offset<Manifest>> for Manifest {
                type Value = ::planus::Offset<Manifest>;
                const STRIDE: usize = 4;
                #[inline]
                fn prepare(&self, builder: &mut ::planus::Builder) -> Self::Value {
                    ::planus::WriteAs::prepare(self, builder)
                }

                #[inline]
                unsafe fn write_values(
                    values: &[::planus::Offset<Manifest>],
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

            impl<'a> ::planus::ReadAsRoot<'a> for ManifestRef<'a> {
                fn read_as_root(slice: &'a [u8]) -> ::planus::Result<Self> {
                    ::planus::TableRead::from_buffer(
                        ::planus::SliceWithStartOffset {
                            buffer: slice,
                            offset_from_start: 0,
                        },
                        0,
                    )
                    .map_err(|error_kind| {
                        error_kind.with_error_location("[ManifestRef]", "read_as_root", 0)
                    })
                }
            }
        }
    }
}
