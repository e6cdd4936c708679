/// The parameters of a call to Apple's token endpoints (apple §2.11).
struct AppleForm: Sendable {
    private let values: [String: String]

    /// - Parameter allowed: The parameters that the endpoint knows.
    init(_ request: AppleRequest, allowed: Set<String>) throws(AppleRefusal) {
        guard request.contentType == "application/x-www-form-urlencoded" else { throw AppleRefusal(.invalidRequest, "the content type is no form") }
        let fields = FormFields(encoded: String(decoding: request.body, as: UTF8.self))
        var values: [String: String] = [:]
        for name in fields.names {
            guard allowed.contains(name) else { throw AppleRefusal(.invalidRequest, "\(name.prefix(40)) is no parameter here") }
            guard fields.raw(name).count == 1 else { throw AppleRefusal(.invalidRequest, "\(name) is repeated") }
            do {
                values[name] = try fields.single(name)
            } catch {
                throw AppleRefusal(.invalidClient, "\(name) is not percent-encoded")
            }
        }
        self.values = values
    }

    subscript(_ name: String) -> String? { values[name] }

    func require(_ name: String) throws(AppleRefusal) -> String {
        guard let value = values[name], !value.isEmpty else { throw AppleRefusal(.invalidRequest, "\(name) is missing") }
        return value
    }
}
