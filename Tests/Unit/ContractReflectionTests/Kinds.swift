import ContractReflection
import Foundation

/// A contract with every kind of field, as `protoc` described it, and messages as protobuf's Python implementation (3.21) encoded them and wrote them as
/// JSON.
///
/// ```proto
/// syntax = "proto3";
/// package kinds;
/// enum Colour { COLOUR_NONE = 0; COLOUR_RED = 1; COLOUR_DARK = -1; }
/// message Kinds {
///   double a_double = 1; float a_float = 2; int64 an_int64 = 3; uint64 a_uint64 = 4; int32 an_int32 = 5; fixed64 a_fixed64 = 6;
///   fixed32 a_fixed32 = 7; bool a_bool = 8; string a_string = 9; Kinds inner = 11; bytes some_bytes = 12; uint32 a_uint32 = 13;
///   Colour colour = 14; sfixed32 a_sfixed32 = 15; sfixed64 a_sfixed64 = 16; sint32 a_sint32 = 17; sint64 a_sint64 = 18;
///   repeated int32 numbers = 19; repeated string texts = 20; map<string, int32> counts = 21; map<int32, Kinds> children = 22;
///   oneof choice { string left = 23; Kinds right = 24; }
///   repeated Colour colours = 25; repeated double doubles = 26; map<bool, string> flags = 27; repeated sint64 zigzags = 28; repeated Kinds list = 29;
/// }
/// service Kind { rpc Get(Kinds) returns (Kinds); rpc Watch(Kinds) returns (stream Kinds) { option idempotency_level = NO_SIDE_EFFECTS; } }
/// ```
enum Kinds {
    static let message = "kinds.Kinds"

    static func schema() throws -> ContractSchema { try ContractSchema(fileDescriptorSet: bytes(set)) }

    static func bytes(_ base64: String) -> [UInt8] { Data(base64Encoded: base64).map(Array.init) ?? [] }

    /// Encoded, and as JSON.
    static let messages: [(encoded: String, json: String)] = [
        (
            """
            CQAAAAAAAPg/FQAAgL4YgICAgICAgICAASD///////////8BKPv//////////wExBwAAAAAAAAA9CAAAAEABSgTDpCIKYgMAAf9o/////w9w////////////AX33////gQH2\
            /////////4gB/////w+QAf///////////wE=
            """,
            #"""
            {
              "aDouble": 1.5,
              "aFloat": -0.25,
              "anInt64": "-9223372036854775808",
              "aUint64": "18446744073709551615",
              "anInt32": -5,
              "aFixed64": "7",
              "aFixed32": 8,
              "aBool": true,
              "aString": "ä\"\u000a",
              "someBytes": "AAH/",
              "aUint32": 4294967295,
              "colour": "COLOUR_DARK",
              "aSfixed32": -9,
              "aSfixed64": "-10",
              "aSint32": -2147483648,
              "aSint64": "-9223372036854775808"
            }
            """#
        ),
        (
            """
            WgRaAigBmgENAf///////////wGsAqIBAKIBAXiqAQUKAWEQAaoBDgoBYhD///////////8BsgEPCP3//////////wESAkABugEAygECAQDSARgAAAAAAADgPwAAAAAAAPh/\
            AAAAAAAA8P/aAQcIARIDeWVz4gECAgHqAQDqAQJAAQ==
            """,
            """
            {
              "inner": {
                "inner": {
                  "anInt32": 1
                }
              },
              "numbers": [
                1,
                -1,
                300
              ],
              "texts": [
                "",
                "x"
              ],
              "counts": {
                "a": 1,
                "b": -1
              },
              "children": {
                "-3": {
                  "aBool": true
                }
              },
              "left": "",
              "colours": [
                "COLOUR_RED",
                "COLOUR_NONE"
              ],
              "doubles": [
                0.5,
                "NaN",
                "-Infinity"
              ],
              "flags": {
                "true": "yes"
              },
              "zigzags": [
                "1",
                "-1"
              ],
              "list": [
                {},
                {
                  "aBool": true
                }
              ]
            }
            """
        ),
        (
            "cAfCAQNKAXI=",
            """
            {
              "colour": 7,
              "right": {
                "aString": "r"
              }
            }
            """
        ),
    ]

    private static let set = """
        CvoJCgtraW5kcy5wcm90bxIFa2luZHMivwgKBUtpbmRzEhkKCGFfZG91YmxlGAEgASgBUgdhRG91YmxlEhcKB2FfZmxvYXQYAiABKAJSBmFGbG9hdBIZCghhbl9pbnQ2NBgDIAEo\
        A1IHYW5JbnQ2NBIZCghhX3VpbnQ2NBgEIAEoBFIHYVVpbnQ2NBIZCghhbl9pbnQzMhgFIAEoBVIHYW5JbnQzMhIbCglhX2ZpeGVkNjQYBiABKAZSCGFGaXhlZDY0EhsKCWFfZml4\
        ZWQzMhgHIAEoB1IIYUZpeGVkMzISFQoGYV9ib29sGAggASgIUgVhQm9vbBIZCghhX3N0cmluZxgJIAEoCVIHYVN0cmluZxIiCgVpbm5lchgLIAEoCzIMLmtpbmRzLktpbmRzUgVp\
        bm5lchIdCgpzb21lX2J5dGVzGAwgASgMUglzb21lQnl0ZXMSGQoIYV91aW50MzIYDSABKA1SB2FVaW50MzISJQoGY29sb3VyGA4gASgOMg0ua2luZHMuQ29sb3VyUgZjb2xvdXIS\
        HQoKYV9zZml4ZWQzMhgPIAEoD1IJYVNmaXhlZDMyEh0KCmFfc2ZpeGVkNjQYECABKBBSCWFTZml4ZWQ2NBIZCghhX3NpbnQzMhgRIAEoEVIHYVNpbnQzMhIZCghhX3NpbnQ2NBgS\
        IAEoElIHYVNpbnQ2NBIYCgdudW1iZXJzGBMgAygFUgdudW1iZXJzEhQKBXRleHRzGBQgAygJUgV0ZXh0cxIwCgZjb3VudHMYFSADKAsyGC5raW5kcy5LaW5kcy5Db3VudHNFbnRy\
        eVIGY291bnRzEjYKCGNoaWxkcmVuGBYgAygLMhoua2luZHMuS2luZHMuQ2hpbGRyZW5FbnRyeVIIY2hpbGRyZW4SFAoEbGVmdBgXIAEoCUgAUgRsZWZ0EiQKBXJpZ2h0GBggASgL\
        Mgwua2luZHMuS2luZHNIAFIFcmlnaHQSJwoHY29sb3VycxgZIAMoDjINLmtpbmRzLkNvbG91clIHY29sb3VycxIYCgdkb3VibGVzGBogAygBUgdkb3VibGVzEi0KBWZsYWdzGBsg\
        AygLMhcua2luZHMuS2luZHMuRmxhZ3NFbnRyeVIFZmxhZ3MSGAoHemlnemFncxgcIAMoElIHemlnemFncxIgCgRsaXN0GB0gAygLMgwua2luZHMuS2luZHNSBGxpc3QaOQoLQ291\
        bnRzRW50cnkSEAoDa2V5GAEgASgJUgNrZXkSFAoFdmFsdWUYAiABKAVSBXZhbHVlOgI4ARpJCg1DaGlsZHJlbkVudHJ5EhAKA2tleRgBIAEoBVIDa2V5EiIKBXZhbHVlGAIgASgL\
        Mgwua2luZHMuS2luZHNSBXZhbHVlOgI4ARo4CgpGbGFnc0VudHJ5EhAKA2tleRgBIAEoCFIDa2V5EhQKBXZhbHVlGAIgASgJUgV2YWx1ZToCOAFCCAoGY2hvaWNlKkMKBkNvbG91\
        chIPCgtDT0xPVVJfTk9ORRAAEg4KCkNPTE9VUl9SRUQQARIYCgtDT0xPVVJfREFSSxD///////////8BMlUKBEtpbmQSIQoDR2V0Egwua2luZHMuS2luZHMaDC5raW5kcy5LaW5k\
        cxIqCgVXYXRjaBIMLmtpbmRzLktpbmRzGgwua2luZHMuS2luZHMiA5ACATABYgZwcm90bzM=
        """
}
