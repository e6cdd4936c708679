internal import StrictJson

extension Document {
    /// The document as JSON.
    package var jsonBytes: [UInt8] { Value.object(members).jsonBytes }
}

extension Document.Value {
    /// The value as JSON; members for XML alone are left out.
    package var jsonBytes: [UInt8] {
        var json = JsonWriter([.lineFeed, .tabAndReturn])
        write(to: &json)
        return json.bytes
    }

    private func write(to json: inout JsonWriter) {
        switch self {
        case .text(let text): json.string(text)
        case .number(let number): json.number(number)
        case .flag(let flag): json.bool(flag)
        case .null: json.null()
        case .json(let text): json.written(text.isEmpty ? "null" : text)
        case .object(let members):
            json.beginObject()
            for member in members where member.only != .xml {
                json.name(member.name)
                member.value.write(to: &json)
            }
            json.endObject()
        case .list(let values, _):
            json.beginArray()
            for value in values { value.write(to: &json) }
            json.endArray()
        }
    }
}
