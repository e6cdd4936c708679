internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Storage

/// The opt-ins that people see, and the links with which a browser becomes theirs.
struct OptInReader: Sendable {
    let base: AutoSignInBase
    let apple: AppleOperations

    func status(_ request: GetOptInStatusRequest, _ context: CallContext) async throws(Fault) -> OptInStatus {
        let caller = try await base.callers.any(request.caller, context)
        try caller.requirePerson()
        let account: AccountID?
        switch caller {
        case .device(let device): account = device.account
        case .web(let browser): account = browser.account
        case .backend: throw Fault(.invalidRequest, "A backend has no opt-ins of its own.")
        }
        guard let account else { return OptInStatus(requestor: caller.requestor.text) }
        let now = base.parts.clock.now()
        let (record, families) = try await base.parts.store.store.read { database in
            let families = try database.families(of: account)
            return (try database.account(account), try families.map { try database.contract($0.id, now: now) })
        }
        return OptInStatus(
            accountID: account.text, families: families, appleLinks: try await apple.links(of: account),
            givenName: record?.profile.givenName ?? "", requestor: caller.requestor.text)
    }

    /// Also for a person who has no account yet: it is made, so that the page has something to show.
    func createWebLink(_ request: CreateWebLinkRequest, _ context: CallContext) async throws(Fault) -> WebLink {
        let caller = try await base.callers.device(request.call, context)
        try caller.requirePerson()
        let account: AccountID
        if let known = caller.account { account = known } else { account = try await makeAccount(caller) }
        return try await base.webSessions.createLink(account: account, programmer: caller.programmer, requestor: caller.requestor)
    }

    private func makeAccount(_ caller: DeviceCaller) async throws(Fault) -> AccountID {
        guard let login = caller.login else { throw Fault(.authenticationSessionMissing, "The device has no session.") }
        let now = base.parts.clock.now()
        let new = AccountID(base.parts.random.uuid(madeAt: now))
        return try await base.parts.store.change { database, touched in
            let account = try database.accountForOptIn(caller, login, new: new, now: now)
            touched.accounts.insert(account)
            return account
        }
    }
}
