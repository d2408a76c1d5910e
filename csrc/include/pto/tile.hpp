// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "npu/issue.hpp"
#include "pto/auto_storage.hpp"
#include "pto/tile_element.hpp"
#include "pto/types.hpp"

namespace pto {

/// The on-chip space of a kind of tile.
constexpr npu::Space SpaceOf(TileType type) {
  switch (type) {
    case TileType::Vec:
      return npu::Space::kUb;
    case TileType::Mat:
      return npu::Space::kL1;
    case TileType::Left:
      return npu::Space::kL0A;
    case TileType::Right:
      return npu::Space::kL0B;
    case TileType::Acc:
      return npu::Space::kL0C;
    case TileType::Bias:
      return npu::Space::kBias;
    case TileType::ScaleLeft:
      return npu::Space::kScaleA;
    case TileType::ScaleRight:
      return npu::Space::kScaleB;
    default:
      return npu::Space::kFix;
  }
}

namespace detail {

inline const char* KindName(TileType type) {
  constexpr const char* kNames[] = {"Vec",  "Mat",     "Left",      "Right",      "Acc",
                                    "Bias", "Scaling", "ScaleLeft", "ScaleRight", "Ctrl"};
  return kNames[static_cast<int>(type)];
}

/// Rows and columns of a tile's valid region: constants, or numbers in the object when kValid is
/// DYNAMIC, which kernels also set by these names.
template <int kValid>
struct ValidRows {
  static constexpr int Get() { return kValid; }
  void Set(int) {}
};
template <>
struct ValidRows<DYNAMIC> {
  int RowMaskInternal = 0;
  int Get() const { return RowMaskInternal; }
  void Set(int rows) { RowMaskInternal = rows; }
};
template <int kValid>
struct ValidCols {
  static constexpr int Get() { return kValid; }
  void Set(int) {}
};
template <>
struct ValidCols<DYNAMIC> {
  int ColMaskInternal = 0;
  int Get() const { return ColMaskInternal; }
  void Set(int cols) { ColMaskInternal = cols; }
};

NPU_ONE_BODY(NPU_RAISES void RaiseTf32(const char* op)) {
  npu::RaiseFault(op, "CAST_ROUND or CAST_RINT", "another round mode");
}

/// Storage of a tile of auto mode.
template <TileType kLoc, class T>
inline T* StorageOf(const TileStorage& storage, uint64_t bytes, int rows, int cols) {
  constexpr npu::Space kSpace = SpaceOf(kLoc);
  constexpr uint64_t kMost = npu::LargestCapacity(kSpace);  // a compact tile may be larger
  return reinterpret_cast<T*>(storage.Get(kSpace, bytes < kMost ? bytes : kMost,
                                          {KindName(kLoc), kTypeName<T>, rows, cols}));
}

/// Where a tile lies.
template <class TileT, class T>
class TilePlace {
 public:
  /// Address that TASSIGN gave, in auto mode that of storage of its own. Const access yields a
  /// writable address too: a tile is a handle.
  T*& data() {
    TakeStorage();
    return data_;
  }
  T* const& data() const {
    TakeStorage();
    return data_;
  }

  /// Makes this tile lie where other does, at address, which lies in it.
  template <class Other>
  void View(const Other& other, T* address) {
    storage_ = other.Storage();
    data_ = address;
  }
  const TileStorage& Storage() const { return storage_; }

 private:
  void TakeStorage() const {
    if (!kIsAuto || __builtin_expect(data_ != nullptr, 1)) return;
    data_ = static_cast<const TileT*>(this)->TakeFrom(storage_);
  }

  mutable T* data_ = nullptr;
  [[no_unique_address]] TileStorage storage_;
};

/// Rows (or columns) of the inner box of a boxed tile; 1 for a tile without boxes.
constexpr int InnerExtent(SLayout inner, int fractal_bytes, size_t element_bytes, bool rows) {
  if (inner == SLayout::NoneBox) return 1;
  const bool is_long = (inner == SLayout::RowMajor) == rows;
  if (fractal_bytes == 1024) return 16;
  if (fractal_bytes == 32) return is_long ? 16 : 2;
  return is_long ? 16 : 32 / static_cast<int>(element_bytes);
}

}  // namespace detail

// Tiles with and without storage of their own are two types, so that both can live in one library.
#ifdef __PTO_AUTO__
inline namespace auto_mode {
#endif

/// A two-dimensional block of on-chip memory: a typed address and a valid region. Copies name the
/// same memory.
///   T                  element type
///   Rows, Cols         extent in elements; the contiguous dimension is a multiple of 32 bytes
///   RowValid, ColValid valid region, DYNAMIC where the constructor or SetValid... gives it
/// Source: PTO ISA, Tile.
template <TileType Loc_, class T, int Rows_, int Cols_, BLayout BFractal_ = BLayout::RowMajor,
          int RowValid_ = Rows_, int ColValid_ = Cols_, SLayout SFractal_ = SLayout::NoneBox,
          int SFractalSize_ = 512, PadValue PadVal_ = PadValue::Null,
          CompactMode Compact_ = CompactMode::Null>
class Tile : public detail::ValidRows<RowValid_>,
             public detail::ValidCols<ColValid_>,
             public detail::TilePlace<Tile<Loc_, T, Rows_, Cols_, BFractal_, RowValid_, ColValid_,
                                           SFractal_, SFractalSize_, PadVal_, Compact_>,
                                      T> {
 public:
  using DType = T;
  using TileDType = T*;

  static constexpr TileType Loc = Loc_;
  static constexpr int Rows = Rows_;
  static constexpr int Cols = Cols_;
  static constexpr BLayout BFractal = BFractal_;
  static constexpr SLayout SFractal = SFractal_;
  static constexpr int SFractalSize = SFractalSize_;
  static constexpr PadValue PadVal = PadVal_;
  static constexpr CompactMode Compact = Compact_;
  static constexpr int ValidRow = RowValid_;
  static constexpr int ValidCol = ColValid_;
  static constexpr int Numel = Rows * Cols;
  static constexpr bool isRowMajor = BFractal == BLayout::RowMajor;
  static constexpr bool isBoxedLayout = SFractal != SLayout::NoneBox;
  static constexpr bool isInnerRowMajor = SFractal == SLayout::RowMajor;
  static constexpr bool isInnerColMajor = SFractal == SLayout::ColMajor;
  // Extent of the inner box: 16 x 16 in accumulators, else 16 x 32 bytes, the 32 bytes along the
  // inner order.
  static constexpr int InnerRows = detail::InnerExtent(SFractal, SFractalSize, sizeof(T), true);
  static constexpr int InnerCols = detail::InnerExtent(SFractal, SFractalSize, sizeof(T), false);
  static constexpr int InnerNumel = InnerRows * InnerCols;
  static constexpr int RowStride = isRowMajor ? Cols : 1;
  static constexpr int ColStride = isRowMajor ? 1 : Rows;

  static_assert(Rows > 0 && Cols > 0, "Tile: expected positive Rows and Cols");
  static_assert(RowValid_ <= Rows && ColValid_ <= Cols,
                "Tile: expected a valid region within Rows x Cols");
  static_assert(isBoxedLayout || (isRowMajor ? Cols : Rows) * sizeof(T) % npu::kTileAlignment == 0,
                "Tile: expected rows (columns if ColMajor) of a multiple of 32 bytes");
  static_assert(SFractalSize == 512 || SFractalSize == 1024 || SFractalSize == 32,
                "Tile: expected a fractal size of 512, 1024 or 32 bytes");
  static_assert(!isBoxedLayout || Rows % InnerRows == 0 || Rows == 1 ||
                    (Loc == TileType::Vec && !isRowMajor && isInnerRowMajor),
                "Tile: expected Rows of whole inner boxes");
  static_assert(!isBoxedLayout || Cols % InnerCols == 0,
                "Tile: expected Cols of whole inner boxes");

  Tile() = default;

  /// Both dynamic dimensions, rows first.
  Tile(int valid_row, int valid_col) {
    static_assert(RowValid_ == DYNAMIC && ColValid_ == DYNAMIC,
                  "Tile: expected as many arguments as dynamic valid dimensions");
    SetValidShape(valid_row, valid_col);
  }

  /// The only dynamic dimension.
  explicit Tile(int valid) {
    static_assert((RowValid_ == DYNAMIC) != (ColValid_ == DYNAMIC),
                  "Tile: expected as many arguments as dynamic valid dimensions");
    SetValidShape(valid, valid);
  }

  constexpr int GetValidRow() const { return detail::ValidRows<RowValid_>::Get(); }
  constexpr int GetValidCol() const { return detail::ValidCols<ColValid_>::Get(); }
  void SetValidRow(int valid_row) { detail::ValidRows<RowValid_>::Set(valid_row); }
  void SetValidCol(int valid_col) { detail::ValidCols<ColValid_>::Set(valid_col); }
  void SetValidShape(int valid_row, int valid_col) {
    SetValidRow(valid_row);
    SetValidCol(valid_col);
  }

  using detail::TilePlace<Tile, T>::data;

  /// Whether loads keep k of float operands at whole boxes, as kernels for A2/A3 say. Nothing
  /// depends on it here: products take k from the valid region.
  bool GetKAligned() const { return is_k_aligned_; }
  void SetKAligned(bool is_k_aligned) { is_k_aligned_ = is_k_aligned; }

  /// From here on float operands of the core's products are rounded to 11 bits of mantissa (A5:
  /// 10), ties away from zero (CAST_ROUND) or to even (CAST_RINT). Source: PTO ISA, Tile.
  void SetMadTF32Mode(RoundMode mode = RoundMode::CAST_ROUND) {
    constexpr const char* kOp = "SetMadTF32Mode";
    npu::Core& core = npu::CoreToClear(kOp);
    if (mode != RoundMode::CAST_ROUND && mode != RoundMode::CAST_RINT) detail::RaiseTf32(kOp);
    core.tf32 = mode == RoundMode::CAST_ROUND ? npu::Tf32::kTiesAway : npu::Tf32::kTiesEven;
  }
  void ResetMadMode() { npu::RunningCore("ResetMadMode").tf32 = npu::Tf32::kOff; }

  /// Reads or writes the element at offset, counted in memory order; on the chip a transfer of the
  /// scalar pipe. Observers see these; what a kernel does through data() they do not.
  [[gnu::always_inline]] T GetValue(uint32_t offset) const {
    CheckElement("GetValue", offset);
    ReportElement("GetValue", false, data() + offset);
    return data()[offset];
  }
  [[gnu::always_inline]] void SetValue(uint32_t offset, T value) {
    CheckElement("SetValue", offset);
    ReportElement("SetValue", true, data() + offset);
    data()[offset] = value;
  }

#ifdef __CPU_SIM
  /// Its memory, in objects of T and in bytes.
  static constexpr size_t GetSizeInUnits() { return size_t{Numel} / detail::kPacked<T>; }
  static constexpr size_t GetSizeInBytes() { return GetSizeInUnits() * sizeof(T); }

  /// The same by row and column, for programs for simulators.
  T GetElement(size_t row, size_t col) const {
    CheckElementAt("GetElement", row, col);
    ReportElement("GetElement", false, detail::PlaceOf(*this, row, col));
    return detail::ReadElement(*this, row, col);
  }
  void SetElement(size_t row, size_t col, const T& value) {
    CheckElementAt("SetElement", row, col);
    ReportElement("SetElement", true, detail::PlaceOf(*this, row, col));
    detail::WriteElement(*this, row, col, value);
  }
#endif

 private:
  friend detail::TilePlace<Tile, T>;

  /// Elements from the start to the end of the space. Windows of an accumulator and operands may
  /// have an extent that ends behind it.
  int64_t Room(const char* op) const {
    constexpr uint64_t kMost = npu::LargestCapacity(SpaceOf(Loc));
    constexpr bool kMayEndBehind =
        Loc == TileType::Acc || Loc == TileType::Left || Loc == TileType::Right;
    const uint64_t bytes =
        kMayEndBehind ? detail::BytesBehind(op, data(), SpaceOf(Loc), kMost) : kMost;
    return static_cast<int64_t>(bytes / sizeof(T));
  }

  T* TakeFrom(const detail::TileStorage& storage) const {
    constexpr uint64_t kBytes = uint64_t{Rows} * Cols * sizeof(T) / detail::kPacked<T>;
    return detail::StorageOf<Loc, T>(storage, kBytes, Rows, Cols);
  }
  [[gnu::always_inline]] void ReportElement(const char* op, bool is_write, const T* element) const {
    if (npu::IsObserved())
      npu::ReportScalar(op, {SpaceOf(Loc), is_write, element, 1, sizeof(T), sizeof(T)});
  }
  void CheckElement(const char* op, uint32_t offset) const {
    static_assert(Compact != CompactMode::Normal || Loc == TileType::Vec || Loc == TileType::Mat,
                  "GetValue, SetValue: expected a tile that is not compact");
    constexpr int64_t kStored = Numel / detail::kPacked<T>;
    const bool has_place = npu::IsPlace(data());
    const int64_t room = has_place ? Room(op) : 0;
    const int64_t count = kStored < room ? kStored : room;
    if (__builtin_expect(offset < count, 1)) return;
    detail::RaiseElement(op, has_place, static_cast<int>(count), offset);
  }
#ifdef __CPU_SIM
  void CheckElementAt(const char* op, size_t row, size_t col) const {
    const bool has_place = npu::IsPlace(data());
    const bool inside = has_place && row < size_t{Rows} && col < size_t{Cols} &&
                        detail::PlaceOf(*this, row, col) - data() < Room(op);
    if (__builtin_expect(!inside, 0)) {
      detail::RaiseElementAt(op, has_place, Rows, Cols, row, col);
    }
  }
#endif

  bool is_k_aligned_ = false;
};

#ifdef __PTO_AUTO__
}  // namespace auto_mode
#endif

namespace detail {

template <class T>
struct IsTile : std::false_type {};
template <TileType kLoc, class T, int kRows, int kCols, BLayout kB, int kVr, int kVc, SLayout kS,
          int kFractal, PadValue kPad, CompactMode kCompact>
struct IsTile<Tile<kLoc, T, kRows, kCols, kB, kVr, kVc, kS, kFractal, kPad, kCompact>>
    : std::true_type {};

}  // namespace detail

// The operands of the cube core. Left tiles of A2/A3 are Zz, those of A5 Nz; instructions take
// both. The elements of a compact tile lie as if its valid region, up to whole boxes, were its
// extent: it may be larger than its space, and a new valid region moves its elements.
#if defined(__CPU_SIM) || (defined(__NPU_ARCH__) && __NPU_ARCH__ != 2201)
inline constexpr BLayout kLeftOrder = BLayout::ColMajor;
#else
inline constexpr BLayout kLeftOrder = BLayout::RowMajor;
#endif
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileLeft =
    Tile<TileType::Left, T, kRows, kCols, kLeftOrder, kRowValid, kColValid, SLayout::RowMajor>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileLeftCompact = Tile<TileType::Left, T, kRows, kCols, kLeftOrder, kRowValid, kColValid,
                             SLayout::RowMajor, 512, PadValue::Null, CompactMode::Normal>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileRight = Tile<TileType::Right, T, kRows, kCols, BLayout::RowMajor, kRowValid, kColValid,
                       SLayout::ColMajor>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileRightCompact =
    Tile<TileType::Right, T, kRows, kCols, BLayout::RowMajor, kRowValid, kColValid,
         SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileLeftScale = Tile<TileType::ScaleLeft, T, kRows, kCols, BLayout::RowMajor, kRowValid,
                           kColValid, SLayout::RowMajor, 32>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileLeftScaleCompact =
    Tile<TileType::ScaleLeft, T, kRows, kCols, BLayout::RowMajor, kRowValid, kColValid,
         SLayout::RowMajor, 32, PadValue::Null, CompactMode::Normal>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileRightScale = Tile<TileType::ScaleRight, T, kRows, kCols, BLayout::ColMajor, kRowValid,
                            kColValid, SLayout::ColMajor, 32>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileRightScaleCompact =
    Tile<TileType::ScaleRight, T, kRows, kCols, BLayout::ColMajor, kRowValid, kColValid,
         SLayout::ColMajor, 32, PadValue::Null, CompactMode::Normal>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileAcc = Tile<TileType::Acc, T, kRows, kCols, BLayout::ColMajor, kRowValid, kColValid,
                     SLayout::RowMajor, 1024>;
template <class T, int kRows, int kCols, int kRowValid = kRows, int kColValid = kCols>
using TileAccCompact = Tile<TileType::Acc, T, kRows, kCols, BLayout::ColMajor, kRowValid, kColValid,
                            SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Normal>;

}  // namespace pto
