internal import Octets
internal import Foundation

/// The calls of rest-v2.
extension RestV2 {
    /// - Parameter parts: The parts of the path behind the requestor, not encoded.
    func call(
        _ method: HTTPRequest.Method, _ parts: String..., query: [Parameter] = [], form: [Parameter]? = nil, json: Data? = nil,
        headers: [HTTPHeader] = []
    ) -> ServerCall {
        let path = (["api", "v2", context.requestor.rawValue] + parts).map { "/\(FormEncoding.encode($0))" }.joined()
        return ServerCall(
            method: method, path: path, query: query, form: form, json: json, headers: [context.device.identifierHeader] + headers)
    }

    /// - Parameter kind: `authorize` or `preauthorize`.
    func decisionsCall(_ kind: String, _ resources: [Resource.ID], _ session: ActiveSession, headers: [HTTPHeader]) throws -> ServerCall {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return call(
            .post, "decisions", kind, session.token.provider.rawValue,
            json: try encoder.encode(["resources": resources.map(\.rawValue)]), headers: headers)
    }

    /// The proof that the session is this device's, beside the device's id.
    func proof(of session: ActiveSession, data: [String: String] = [:]) -> [HTTPHeader] {
        switch session.token.source {
        case .apple: session.account.map { [Self.frameworkStatus($0)] } ?? []
        case .tempPass: Self.identity(data.genericText ?? session.token.trialIdentity)
        case .regular, .degraded: []
        }
    }

    /// For a promotional trial: who the person is (§1.3).
    static func identity(_ text: String?) -> [HTTPHeader] {
        text.map { [HTTPHeader("AP-TempPass-Identity", Data($0.utf8).base64EncodedString())] } ?? []
    }

    /// The platform's answer (§1.3); it says something only with the person's permission.
    static func frameworkStatus(_ account: AccountMetadata) -> HTTPHeader {
        var provider: [String: JSONValue] = [:]
        if let name = account.providerIdentifier { provider["id"] = .string(name) }
        if let end = account.expires { provider["expirationDate"] = .string("\(Int64((end.timeIntervalSince1970 * 1000).rounded()))") }
        let status: [String: JSONValue] = [
            "frameworkPermissionInfo": .object(["accessStatus": "granted"]), "frameworkProviderInfo": .object(provider),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return HTTPHeader("AP-Partner-Framework-Status", ((try? encoder.encode(status)) ?? Data()).base64EncodedString())
    }
}
