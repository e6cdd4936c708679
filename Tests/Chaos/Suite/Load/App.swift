import Foundation

/// The app whose devices make up the load, and the administrator of its catalogue.
struct App: Sendable {
    let caller: Caller
    let gateway: String
    let statement: String
    let accessToken: String
    /// Base URL of administration.
    let administrationAddress: String
    let adminToken: String

    /// Registers, and gets the access token that all its devices use.
    static func register(_ caller: Caller, gateway: String, statement: String, administration: String, adminToken: String) async throws -> App {
        guard let client = AppClient(await Television.register(caller, gateway, statement: statement).answer),
            let token = await Television.token(caller, gateway, client).answer?.object["access_token"] as? String
        else { throw ChaosFailure("the app cannot register at the cluster") }
        return App(
            caller: caller, gateway: gateway, statement: statement, accessToken: token, administrationAddress: administration, adminToken: adminToken)
    }

    func device(_ id: String) -> Television { Television(caller: caller, gateway: gateway, deviceID: id, accessToken: accessToken) }

    func token(_ client: AppClient) async -> Outcome { await Television.token(caller, gateway, client) }

    var administration: Administration { Administration(caller: caller, address: administrationAddress, token: adminToken) }
}

/// Why a run cannot go on.
struct ChaosFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
