internal import FoundationEssentials

/// What `X-Device-Info` says about a device (rest-v2 §1.3).
struct DeviceInfo: Sendable, Codable, Equatable {
    /// Scalars as text; other values count as absent.
    private(set) var values: [String: String] = [:]

    init() {}

    /// - Parameter header: Base64 of a JSON object; percent-encoded, of the URL alphabet and unpadded too. Base64 of something else says nothing.
    /// - Throws: `invalid_header_device_info` when it is no Base64.
    init(header: String?) throws(UpstreamRefusal) {
        guard let header else { return }
        guard header.utf8.count <= 16_384, let octets = Self.octets(header) else { throw UpstreamRefusal(.invalidDeviceInfo) }
        guard let members = try? JSONDecoder().decode([String: AppleClaim].self, from: Data(octets)) else { return }
        for (name, value) in members.prefix(64) {
            switch value {
            case .text(let text): values[name] = String(text.prefix(512))
            case .number(let number): values[name] = String(number)
            case .flag(let flag): values[name] = String(flag)
            case .list, .object, .null: break
            }
        }
        if values["primaryHardwareType"] == nil { values["primaryHardwareType"] = values["type"] }
    }

    subscript(_ name: String) -> String? { values[name] }

    /// Whether Apple's framework of TV providers exists on the platform.
    var isApple: Bool { ["iOS", "tvOS"].contains { $0 == values["osName"] || $0 == values["osFamily"] } }

    private static func octets(_ header: String) -> [UInt8]? {
        let text = header.contains("%") ? FormFields.percentDecoded(header) : header
        guard let text, !text.isEmpty else { return nil }
        var standard = text.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        standard += [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Base64.octets(String(decoding: standard, as: UTF8.self))
    }
}
