import Foundation
import Synchronization

/// Plays stories against a cluster, and enters in the ledger what it acknowledges.
struct StoryTeller: Sendable {
    let app: App
    let ledger: Ledger
    /// Names of people at the stand-in MVPD.
    let people: [String]
    let turn: Turn

    /// Pushes go one after the other: they share a draft.
    final class Turn: Sendable {
        private let state = Mutex((isPushing: false, person: 0, push: 0))

        func beginPush() -> Int? {
            state.withLock { state in
                guard !state.isPushing else { return nil }
                state.isPushing = true
                state.push += 1
                return state.push
            }
        }

        func endPush() { state.withLock { $0.isPushing = false } }

        func nextPerson() -> Int {
            state.withLock { state in
                defer { state.person += 1 }
                return state.person
            }
        }
    }

    func play(_ story: Story) async {
        switch story {
        case .readSession: await readSession()
        case .readCode: await readCode()
        case .readPermission: await onSession({ $0.isPermitted }) { await $0.permission() }
        case .readMedia: await onSession({ $0.isPermitted }) { await $0.mediaToken() }
        case .readLogout:
            if let session = await ledger.anyEndedSession() { _ = await app.device(session.device).session(expecting: [404]) }
        case .readOptOut:
            if let optOut = await ledger.anyOptOut() { _ = await newDevice().redeem(optOut.value, expecting: [401]) }
        case .readConfig: _ = await Television.config(app.caller, app.gateway)
        case .register: await register()
        case .requestToken: if let client = await ledger.anyClient() { _ = await app.token(client) }
        case .requestCode: await requestCode()
        case .deleteCode: await deleteCode()
        case .preview: await preview()
        case .signIn: await signIn()
        case .logout: await logout()
        case .authorize: await authorize()
        case .optIn: await optIn()
        case .optOut: await optOut()
        case .push: await push()
        case .readVersions: await readVersions()
        }
    }

    private func newDevice() -> Television { app.device(UUID().uuidString) }

    // MARK: Reads

    private func readSession() async {
        guard let session = await ledger.borrowSession() else { return await preview() }
        if case .wrong = await app.device(session.device).session(mvpd: session.mvpd) { return }
        await ledger.put(session)
    }

    private func readCode() async {
        guard let code = await ledger.borrowCode() else { return await requestCode() }
        if case .wrong = await app.device(code.device).readCode(code.code) { return }
        await ledger.put(code)
    }

    private func onSession(_ isFit: @Sendable (SessionEntry) -> Bool, _ call: (Television) async -> Outcome) async {
        guard let session = await ledger.borrowSession(where: isFit) else { return await authorize() }
        if case .wrong = await call(app.device(session.device)) { return }
        await ledger.put(session)
    }

    // MARK: Clients and codes

    private func register() async {
        if let client = AppClient(await Television.register(app.caller, app.gateway, statement: app.statement).answer) {
            await ledger.registered(client)
        }
    }

    private func requestCode() async {
        let device = newDevice()
        guard let code = await device.requestCode().answer?.object["code"] as? String else { return }
        await ledger.put(CodeEntry(code: code, device: device.deviceID))
    }

    private func deleteCode() async {
        guard let code = await ledger.borrowCode() else { return await requestCode() }
        if await app.device(code.device).deleteCode(code.code).isDone { await ledger.deleted(code) }
    }

    // MARK: Sessions

    private func preview() async {
        let device = newDevice()
        if await device.preview().isDone { await ledger.put(SessionEntry(device: device.deviceID, mvpd: "Preview10")) }
    }

    /// - Returns: The new session, which is not in the ledger yet.
    private func newSession() async -> SessionEntry? {
        let device = newDevice()
        guard let code = await device.requestCode().answer?.object["code"] as? String else { return nil }
        var person = Person(caller: app.caller, gateway: app.gateway, name: people[turn.nextPerson() % people.count])
        guard case .signedIn = await person.signIn(code: code, mvpd: "NorthCable") else { return nil }
        return SessionEntry(device: device.deviceID, mvpd: "NorthCable")
    }

    private func signIn() async {
        if let session = await newSession() { await ledger.put(session) }
    }

    private func logout() async {
        guard let session = await ledger.borrowSession() else { return await preview() }
        if await app.device(session.device).logout().isDone { await ledger.ended(session) }
    }

    private func authorize() async {
        // A trial runs from its first permission on, so that only real subscribers ask for one.
        guard var session = await ledger.borrowSession(where: { $0.mvpd == "NorthCable" }) else { return await signIn() }
        let outcome = await app.device(session.device).authorize()
        if case .wrong = outcome { return }
        if outcome.isDone { session.isPermitted = true }
        await ledger.put(session)
    }

    // MARK: Automatic Sign-In

    private func optIn() async {
        guard let session = await newSession() else { return }
        let device = app.device(session.device)
        guard let object = await device.issue().answer?.object, let family = object["familyId"] as? String, let value = object["value"] as? String
        else { return await ledger.put(session) }
        // The session stays with the opt-in, which it may end.
        guard await device.confirm(family).isDone else { return }
        await ledger.put(OptInEntry(family: family, value: value, device: session.device))
    }

    private func optOut() async {
        guard let optIn = await ledger.borrowOptIn() else { return await self.optIn() }
        if await app.device(optIn.device).optOut(optIn.family).isDone { await ledger.optedOut(optIn) }
    }

    // MARK: The catalogue

    private func readVersions() async {
        _ = await app.administration.newestVersion()
    }

    private func push() async {
        guard let number = turn.beginPush() else { return }
        let name = "Acme Two \(number)"
        if case .success(let version) = await app.administration.push(name: name) {
            await ledger.pushed(PushEntry(version: version, description: name))
        }
        turn.endPush()
    }
}
