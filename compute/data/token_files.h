// Files of text and of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syncline {

using Token = std::uint16_t;

// The bytes of a text file are its tokens; they are appended. Throws InputError naming the file:
// missing, a directory, not a regular file, not readable, empty.
void append_text_file(const std::string& path, std::vector<Token>& tokens);

// 16-bit little-endian tokens, appended. Shards of llm.c (GPT-2) and modded-nanogpt begin with 256
// 32-bit words: magic 20240520, version 1, the number of tokens; nanoGPT's files are tokens from
// the first byte on. Throws InputError as above, and for an odd length, a header that is not
// understood, and another number of tokens than the header says.
void append_token_file(const std::string& path, std::vector<Token>& tokens);

}  // namespace syncline
