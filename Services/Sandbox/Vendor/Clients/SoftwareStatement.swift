/// A software statement that the stand-in made or was told of.
struct SoftwareStatement: Sendable, Codable, Equatable {
    /// The statement's `software_id`.
    let id: String
    /// The compact text: registration takes exactly this.
    let text: String
    /// Ids, or `*` for all.
    let serviceProviders: [String]
    let scopes: [String]
    var isRevoked = false

    func covers(_ serviceProvider: String) -> Bool { serviceProviders.contains { $0 == "*" || $0 == serviceProvider } }

    /// The scope of REST v2 (rest-v2 §1.3), and the one of the reset of TempPass.
    static let apiScope = "api:client:v2"
    static let resetScope = "temporary:passes:owner"
}
