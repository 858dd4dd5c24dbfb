#include "allocations.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// A word before the block, steps of 16 bytes, at least 32.  A sanitizer's malloc says what was requested.
std::size_t with_overhead(std::size_t usable) { return std::max<std::size_t>(32, (usable + 8 + 15) / 16 * 16); }

void* counted_new(std::size_t size) noexcept {
  if (++allocations::count == allocations::failing) return nullptr;
  void* block = std::malloc(size ? size : 1);
  if (!block) return nullptr;
  const std::size_t added = malloc_usable_size(block);
  const std::size_t now = allocations::bytes.fetch_add(added, std::memory_order_relaxed) + added;
  allocations::block_bytes.fetch_add(with_overhead(added), std::memory_order_relaxed);
  std::size_t most = allocations::most_bytes.load(std::memory_order_relaxed);
  while (now > most && !allocations::most_bytes.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return block;
}

void* checked(void* block) { return block ? block : throw std::bad_alloc(); }

void counted_delete(void* block) noexcept {
  if (block) {
    const std::size_t gone = malloc_usable_size(block);
    allocations::bytes.fetch_sub(gone, std::memory_order_relaxed);
    allocations::block_bytes.fetch_sub(with_overhead(gone), std::memory_order_relaxed);
  }
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return checked(counted_new(size)); }
void* operator new[](std::size_t size) { return checked(counted_new(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_new(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted_new(size); }
void operator delete(void* place) noexcept { counted_delete(place); }
void operator delete[](void* place) noexcept { counted_delete(place); }
void operator delete(void* place, std::size_t) noexcept { counted_delete(place); }
void operator delete[](void* place, std::size_t) noexcept { counted_delete(place); }
void operator delete(void* place, const std::nothrow_t&) noexcept { counted_delete(place); }
void operator delete[](void* place, const std::nothrow_t&) noexcept { counted_delete(place); }
