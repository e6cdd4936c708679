internal import StrictJson

/// JSON as OTLP writes protocol buffers (opentelemetry-specification, "OTLP/HTTP, JSON Protobuf Encoding"): names in lowerCamelCase, ids in hexadecimal digits,
/// enumerations as numbers, 64-bit integers as texts.
struct OtlpText {
    private var json: JsonWriter

    var bytes: [UInt8] { json.bytes }

    init(reserving capacity: Int = 4096) { json = JsonWriter(.delete, reserving: capacity) }

    @inline(__always)
    mutating func object(_ name: StaticString? = nil, _ members: (inout OtlpText) -> Void) {
        begin(name)
        json.beginObject()
        members(&self)
        json.endObject()
    }

    @inline(__always)
    mutating func array(_ name: StaticString, _ items: (inout OtlpText) -> Void) {
        begin(name)
        json.beginArray()
        items(&self)
        json.endArray()
    }

    /// Left out when it is empty, as its default.
    mutating func text(_ name: StaticString, _ value: String) {
        if !value.isEmpty { json.member(name, value) }
    }

    /// Also when it is empty: which member there is says of what kind a value is.
    mutating func string(_ name: StaticString, _ value: String) { json.member(name, value) }

    mutating func number(_ name: StaticString, _ value: Int) { json.member(name, Int64(value)) }

    mutating func flag(_ name: StaticString, _ value: Bool) { json.member(name, value) }

    /// 64 bits.
    mutating func long(_ name: StaticString?, _ value: some FixedWidthInteger) {
        begin(name)
        json.string(String(value))
    }

    mutating func double(_ name: StaticString?, _ value: Double) {
        begin(name)
        if value.isFinite {
            json.written("\(value)")
        } else {
            json.string(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity")
        }
    }

    /// As hexadecimal digits.
    mutating func id(_ name: StaticString, _ parts: UInt64...) {
        begin(name)
        json.hexadecimal(parts)
    }

    private mutating func begin(_ name: StaticString?) {
        if let name { json.name(plain: name) }
    }
}
