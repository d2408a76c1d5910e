// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace host_test {

/// The sentence of the fault that ends body, called by host code in this thread; empty without one.
std::string FaultOf(const auto& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace host_test
