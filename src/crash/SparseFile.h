// A file with holes, read into memory without filling them.
//
// Not mapped: on some file systems (tmpfs) a page of a hole that is read through a mapping takes room
// on the disk, and a full one ends the process.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nvmove::crash {

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readSparse(const std::string &Path);

} // namespace nvmove::crash
