internal import Hummingbird

/// A form whose sender has to sign in again, or to send it again: what was typed goes along, so that nothing is lost.
struct CarriedForm {
    private static let prefix = "carried."
    private static let target = "to"

    /// Where it is sent.
    let address: String
    let fields: [(name: String, value: String)]

    /// The form that a request brought.
    init?(_ exchange: Exchange) {
        guard exchange.method == .post, let sent = try? exchange.allParameters() else { return nil }
        address = ConsoleAddress.own(exchange.target)
        fields = sent.filter { $0.name != ConsoleDoor.tokenField }
    }

    /// The one that went along with a sign-in.
    init?(signIn exchange: Exchange) {
        guard let sent = try? exchange.allParameters(), sent.contains(where: { $0.name.hasPrefix(Self.prefix) }) else { return nil }
        address = ConsoleAddress.own(sent.first { $0.name == Self.target }?.value ?? "")
        fields = sent.filter { $0.name.hasPrefix(Self.prefix) }.map { (String($0.name.dropFirst(Self.prefix.count)), $0.value) }
    }

    /// As fields of the form that carries it.
    var carriedFields: [[String: String]] {
        fields.map { ["hiddenName": Self.prefix + $0.name, "hiddenValue": $0.value] }
    }

    /// As fields of a form that sends it.
    var ownFields: [[String: String]] { fields.map { ["hiddenName": $0.name, "hiddenValue": $0.value] } }
}
