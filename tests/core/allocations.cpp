#include "allocations.hpp"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

void* counted_new(std::size_t size) noexcept {
  if (++allocations::count == allocations::failing) return nullptr;
  void* block = std::malloc(size ? size : 1);
  if (!block) return nullptr;
  const std::size_t added = malloc_usable_size(block);
  const std::size_t now = allocations::bytes.fetch_add(added, std::memory_order_relaxed) + added;
  std::size_t most = allocations::most_bytes.load(std::memory_order_relaxed);
  while (now > most && !allocations::most_bytes.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return block;
}

void* checked(void* block) { return block ? block : throw std::bad_alloc(); }

void counted_delete(void* block) noexcept {
  if (block) allocations::bytes.fetch_sub(malloc_usable_size(block), std::memory_order_relaxed);
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
