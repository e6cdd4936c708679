internal import Catalogue
internal import Contracts
internal import Faults

/// Where a person goes when a sign-in is over: the app's address if it is still registered, else the channel's default (mvpd §2.4).
struct SignInDestination: Sendable {
    let store: any AuthenticationStore
    let ends: SignInEnds

    func address(
        _ asked: String, _ record: RegistrationRecord, _ requestor: Requestor, _ catalogue: Catalogue
    ) async throws(Fault) -> String {
        let application = try await ClientDirectory(store: store).application(of: record.clientID, in: catalogue)
        return ends.accepts(asked, at: requestor, of: application, in: catalogue) ? asked : requestor.defaultRedirectURL
    }
}
