internal import AuthenticationCore
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import StrictJson

/// What calls for a session tell upstream of the person, beside the device. It is sealed with the session.
struct BridgedIdentity: Hashable, Sendable {
    /// `AP-TempPass-Identity`; empty: none.
    var temporaryPass = ""
    /// The platform's own id of the provider that it signed in at; empty: it did not.
    var partner = ""

    var isEmpty: Bool { temporaryPass.isEmpty && partner.isEmpty }

    /// `AP-Partner-Framework-Status` of a platform that lets the app ask, and is signed in at the provider (rest-v2 §1.3). It is said in the device's name:
    /// `synthesizePartnerStatus` allows it (bridge §11).
    static func partnerStatus(_ provider: String, until end: Timestamp) -> String {
        let text =
            #"{"frameworkPermissionInfo":{"accessStatus":"granted"},"# + #""frameworkProviderInfo":{"id":\#(JsonNode.quoted(provider)),"#
            + #""expirationDate":"\#(end.milliseconds)"}}"#
        return Base64.standard.encode(Array(text.utf8))
    }

    /// What a trial is told of the person, who is in there by digests alone (bridge §10.1).
    /// - Parameter genericData: As it was sent; empty: nothing.
    /// - Returns: `AP-TempPass-Identity`; empty: none.
    /// - Throws: `invalid_request` for a text that names nobody.
    static func temporaryPass(_ genericData: String) throws(Fault) -> String {
        guard !genericData.isEmpty else { return "" }
        let users = try GenericData.users(in: genericData)
        let members = users.map { "\(JsonNode.quoted($0.key)):\(JsonNode.quoted($0.user.text))" }
        return Base64.standard.encode(Array("{\(members.joined(separator: ","))}".utf8))
    }
}

/// The text that is sealed: attributes, and what else there is, with a dot between.
extension BridgedIdentity {
    private static let separator: Character = "."

    /// - Parameter attributes: In Base64.
    func sealable(with attributes: String) -> String {
        guard !isEmpty else { return attributes }
        return [attributes, temporaryPass, Base64.standard.encode(Array(partner.utf8))].joined(separator: String(Self.separator))
    }

    static func split(_ text: String) -> (attributes: String, identity: BridgedIdentity) {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return (text, BridgedIdentity()) }
        let partner = Base64.standard.decode(parts[2]).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        return (parts[0], BridgedIdentity(temporaryPass: parts[1], partner: partner))
    }
}
