internal import ContractRuntime
internal import Frames

/// Frames and messages as a report shows them: fields that have their default are left out.
enum FrameText {
    static func text(_ frame: Frame) -> String {
        switch frame.kind {
        case .hello(let value): "hello" + fields(value)
        case .request(let value): "request" + fields(value)
        case .response(let value): "response" + fields(value)
        case .streamItem(let value): "stream_item" + fields(value)
        case .streamEnd(let value): "stream_end" + fields(value)
        case .cancel(let value): "cancel" + fields(value)
        case .ping(let value): "ping" + fields(value)
        case .pong(let value): "pong" + fields(value)
        case .goAway(let value): "go_away" + fields(value)
        case nil: "a frame without a kind"
        }
    }

    static func text(_ event: ProbeEvent?) -> String {
        switch event {
        case .frame(let frame): text(frame)
        case .garbage(let what): what
        case .closed: "the end of the connection"
        case nil: "nothing"
        }
    }

    static func text(_ message: some Message) -> String {
        "\(type(of: message).messageName.split(separator: ".").last ?? "")\(fields(message))"
    }

    private static func fields(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        let shown = mirror.children.compactMap { child -> String? in
            guard let label = child.label, let text = text(of: child.value) else { return nil }
            return "\(label): \(text)"
        }
        return "{\(shown.joined(separator: ", "))}"
    }

    private static let longest = 160

    private static func text(of value: Any) -> String? {
        switch value {
        case let text as String: return text.isEmpty ? nil : quoted(text)
        case let bytes as [UInt8]: return bytes.isEmpty ? nil : Bytes.text(bytes)
        case let list as [Any]:
            guard !list.isEmpty else { return nil }
            let shown = list.prefix(4).map { text(of: $0) ?? "{}" } + (list.count > 4 ? ["..."] : [])
            return "[\(shown.joined(separator: ", "))]"
        case let flag as Bool: return flag ? "true" : nil
        case let number as any BinaryInteger: return "\(number)" == "0" ? nil : "\(number)"
        case let message as any Message: return fields(message)
        default: return other(value)
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.count > longest ? text.prefix(longest) + "..." : text[...])\""
    }

    /// Optionals, and the cases of a oneof.
    private static func other(_ value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.flatMap { text(of: $0.value) ?? "{}" }
        case .enum:
            guard let child = mirror.children.first else { return "\(value)" }
            return "\(child.label ?? "") \(text(of: child.value) ?? "(empty)")"
        default: return "\(value)"
        }
    }
}
