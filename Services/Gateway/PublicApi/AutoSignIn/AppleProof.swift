internal import Contracts
internal import Faults

/// What an app got of Apple, or the ticket that stands for it (apple §2.8).
struct AppleProof {
    let identityToken: String
    let code: String
    let nonce: String
    let clientID: String
    let user: FirstTimeUser?
    let ticket: String

    /// - Throws: `invalid_request` naming what is missing; a ticket needs nothing beside it.
    init(_ body: AppBody) throws(Fault) {
        ticket = try body.optionalText("ticket")
        let hasTicket = !ticket.isEmpty
        identityToken = hasTicket ? "" : try body.text("identityToken")
        nonce = hasTicket ? "" : try body.text("nonce")
        clientID = hasTicket ? try body.optionalText("clientId") : try body.text("clientId")
        code = hasTicket ? "" : try body.optionalText("code")
        user = hasTicket ? nil : try Self.user(body)
    }

    /// `{"name":{"firstName","lastName"},"email"}`, each part optional (apple §2.7).
    private static func user(_ body: AppBody) throws(Fault) -> FirstTimeUser? {
        guard let user = try body.object("user") else { return nil }
        let name = try user.object("name")
        return FirstTimeUser(
            givenName: try name?.optionalText("firstName") ?? "", familyName: try name?.optionalText("lastName") ?? "",
            email: try user.optionalText("email"))
    }
}
