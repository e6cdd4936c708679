internal import Contracts
internal import GatewayEdge

/// Device information in the normalised form of a code's record (rest-v1 §3.4, `info.deviceInfo`).
struct DeviceDocument {
    private let device: DeviceInformation

    init(_ device: DeviceInformation) { self.device = device }

    var value: Document.Value {
        .object([
            .init("type", .text(device.type)), .init("model", .text(device.model)), .init("version", Self.version(device.version)),
            .init("hardware", hardware), .init("operatingSystem", operatingSystem), .init("browser", browser), .init("display", display),
            .init("applicationId", .optional(device.applicationID)), .init("connection", connection),
        ])
    }

    private var hardware: Document.Value {
        .object([
            .init("name", .text(device.model)), .init("vendor", .optional(device.vendor)), .init("version", Self.version(device.version)),
            .init("manufacturer", .optional(device.manufacturer)),
        ])
    }

    private var operatingSystem: Document.Value {
        .object([
            .init("name", .text(device.osName)), .init("family", .optional(device.osFamily)), .init("vendor", .optional(device.osVendor)),
            .init("version", Self.version(device.osVersion)),
        ])
    }

    private var browser: Document.Value {
        .object([
            .init("name", .optional(device.browserName)), .init("vendor", .optional(device.browserVendor)),
            .init("version", Self.version(device.browserVersion)), .init("userAgent", .optional(device.userAgent)),
            .init("originalUserAgent", .optional(device.userAgent)),
        ])
    }

    private var display: Document.Value {
        .object([
            .init("width", Self.size(device.displayWidth)), .init("height", Self.size(device.displayHeight)),
            .init("ppi", Self.size(device.displayPpi)), .init("name", .text("DISPLAY")), .init("vendor", .null), .init("version", .null),
            .init("diagonalSize", Self.number(device.diagonalScreenSize)),
        ])
    }

    private var connection: Document.Value {
        .object([
            .init("ipAddress", .optional(device.connectionIP)), .init("port", .optional(device.connectionPort)),
            .init("secure", .flag(device.connectionSecure == "true")), .init("type", .optional(device.connectionType)),
        ])
    }

    /// `major.minor.patch`, the rest as profile; what is no number is 0.
    private static func version(_ text: String) -> Document.Value {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        let numbers = (0..<3).map { $0 < parts.count ? Int64(parts[$0].prefix { $0.isASCII && $0.isNumber }) ?? 0 : 0 }
        return .object([
            .init("major", .number(numbers[0])), .init("minor", .number(numbers[1])), .init("patch", .number(numbers[2])),
            .init("profile", .text(parts.count > 3 ? String(parts[3]) : "")),
        ])
    }

    /// Whole pixels or points; 0 where they are not known, as in the vendor's samples (rest-v2 §2.4), or where the device sent no number.
    private static func size(_ text: String) -> Document.Value {
        let whole = text.prefix { $0 != "." }
        let isNumber = !whole.isEmpty && whole.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let number: Int64 = isNumber ? Int64(whole) ?? 0 : 0
        return .number(number)
    }

    private static func number(_ text: String) -> Document.Value {
        Int64(text).map { .number($0) } ?? .optional(text)
    }
}
