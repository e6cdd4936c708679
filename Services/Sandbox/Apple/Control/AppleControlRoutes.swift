internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird

/// Routes by which tests control the stand-in Apple: `/_control/…`.
struct AppleControlRoutes: Sendable {
    private static let largestMessage = 64 * 1024
    private typealias Message = AppleControlMessages

    let memory: AppleMemory
    let clock: AdjustableClock
    let faults: AppleFaults
    let log: AppleLog

    func add(to router: RouterGroup<SandboxContext>) {
        addState(to: router)
        addPeople(to: router)
        addTokens(to: router)
    }

    private func addState(to router: RouterGroup<SandboxContext>) {
        router.get("/log") { _, _ in try Self.json(log.report()) }
        router.post("/reset") { _, _ in
            memory.reset()
            faults.reset()
            log.reset()
            clock.shift(by: .zero)
            return HTTPResponse.Status.noContent
        }
        router.post("/clock") { request, _ in
            try await read(Message.Clock.self, request) { clock.shift(by: try Message.span($0.offsetSeconds, "offsetSeconds")) }
        }
        router.get("/faults") { _, _ in try Self.json(faults.waiting()) }
        router.post("/faults") { request, _ in
            try await read(Message.Faults.self, request) { message in
                for (index, fault) in message.faults.enumerated() { try fault.check("faults[\(index)]") }
                faults.append(message.faults, for: message.endpoint)
            }
        }
        router.delete("/faults") { request, _ in
            faults.reset(request.uri.queryParameters["endpoint"].flatMap { AppleEndpoint(rawValue: String($0)) })
            return HTTPResponse.Status.noContent
        }
        router.post("/behaviour") { request, _ in try await read(Message.Behaviour.self, request, behave) }
        router.get("/keys") { _, _ in try Self.json(memory.access { Self.keys($0.keys) }) }
        router.post("/keys") { request, _ in
            let message = try await decode(Message.Keys.self, request)
            return try Self.json(try checked { try memory.access { try Self.change(message, &$0) } })
        }
    }

    private func addPeople(to router: RouterGroup<SandboxContext>) {
        router.put("/users/{account}") { request, context in
            let account = try context.parameters.require("account")
            let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
            let user = try checked { try AppleUser(account: account, json: octets) }
            memory.access { $0.users[account] = user }
            return HTTPResponse.Status.noContent
        }
        router.get("/users/{account}") { _, context in
            let account = try context.parameters.require("account")
            return try Self.json(memory.access { Self.person(account, $0) })
        }
        router.put("/groups/{group}") { request, context in
            let id = try context.parameters.require("group")
            return try await read(Message.Group.self, request) { message in
                try memory.access { try $0.directory.add(AppleGroup(id, message)) }
            }
        }
        router.post("/transfers") { request, _ in try await read(Message.Transfer.self, request, transfer) }
        router.post("/notifications") { request, _ in
            let order = try await decode(NotificationOrder.self, request)
            return try Self.json(try await send(order))
        }
    }

    private func addTokens(to router: RouterGroup<SandboxContext>) {
        router.post("/identity-tokens") { request, _ in
            let order = try await decode(TokenOrder.self, request)
            return try Self.json(try checked { try memory.access { try order.make(&$0, now: clock.now()) } })
        }
        router.get("/refresh-tokens") { _, _ in try Self.json(memory.access { Self.refreshTokens($0.ledger) }) }
        router.get("/secrets") { _, _ in try Self.json(memory.access { $0.secrets }) }
        router.get("/tokens") { _, _ in try Self.json(memory.access { Self.tokens($0.tokens) }) }
        router.put("/tokens") { request, _ in
            try await read(Message.Token.self, request) { message in
                let key = SharedTokens.Key(store: message.environment ?? .production, account: message.account, bundleID: message.bundleID)
                let reading = AutoSignInReading(value: message.value, authorization: message.authorization)
                memory.access { content in
                    content.tokens[key].set(reading, at: clock.now())
                    if let value = message.value { content.secrets.add(value: value) }
                }
            }
        }
    }

    @Sendable private func behave(_ message: AppleControlMessages.Behaviour) throws {
        if let age = message.keysMaxAgeSeconds, !(0...31_536_000).contains(age) {
            throw SettingsFault(key: "keysMaxAgeSeconds", problem: "is not from 0 to 31536000")
        }
        if let count = message.validationsPerDay, !(0...1_000_000).contains(count) {
            throw SettingsFault(key: "validationsPerDay", problem: "is not from 0 to 1000000")
        }
        let delay = try message.syncDelaySeconds.map { try AppleControlMessages.span($0, "syncDelaySeconds") }
        memory.access { content in
            if let age = message.keysMaxAgeSeconds { content.keysMaxAge = age }
            if let count = message.validationsPerDay { content.ledger.validationsPerDay = count == 0 ? nil : count }
            if let delay { content.tokens.syncDelay = max(delay, .zero) }
        }
    }

    @Sendable private func transfer(_ message: AppleControlMessages.Transfer) throws {
        let span = try AppleControlMessages.span(message.acceptedSecondsAgo ?? 0, "acceptedSecondsAgo")
        try memory.access { content in
            guard var group = content.directory.groups[message.group] else { throw SettingsFault(key: "group", problem: "is unknown") }
            let from = group.team
            guard from != message.team else { throw SettingsFault(key: "team", problem: "has the group already") }
            group.team = message.team
            try content.directory.add(group)
            content.transfers.accept(TeamTransfers.Transfer(group: group.id, from: from, to: message.team, acceptedAt: clock.now() - span))
        }
    }

    private func send(_ order: NotificationOrder) async throws -> AppleControlMessages.Sent {
        let (jti, payload, address) = try checked {
            try order.check()
            return try memory.access { content in
                guard let client = content.directory.client(order.clientID) else {
                    throw SettingsFault(key: "clientId", problem: "belongs to no group")
                }
                let jti = order.jti ?? content.octets.text(16, for: "jti")
                let payload = try order.payload(&content, client, jti: jti, now: clock.now())
                order.apply(&content, client)
                return (jti, payload, client.group.notificationURL)
            }
        }
        var statuses: [Int] = []
        if let address { for _ in 0..<(order.posts ?? 1) { statuses.append(await NotificationPost().send(payload, to: address)) } }
        return AppleControlMessages.Sent(jti: jti, payload: payload, statuses: statuses)
    }

    private static func change(_ message: AppleControlMessages.Keys, _ content: inout AppleMemory.Content) throws -> [AppleControlMessages.KeyState] {
        func kid() throws(SettingsFault) -> String {
            guard let kid = message.kid else { throw SettingsFault(key: "kid", problem: "is missing") }
            return kid
        }
        switch message.action {
        case .add: _ = try content.keys.add(&content.octets)
        case .signUnpublished: _ = try content.keys.signUnpublished(&content.octets)
        case .promote: try content.keys.promote(try kid())
        case .drop: try content.keys.drop(try kid())
        case .publish: try content.keys.publish(try kid())
        }
        return keys(content.keys)
    }

    private static func keys(_ keys: IdentityKeys) -> [AppleControlMessages.KeyState] {
        let signing = keys.signingID
        return keys.published.map { .init(kid: $0.id, published: true, signing: $0.id == signing) }
            + keys.unpublished.map { .init(kid: $0.id, published: false, signing: $0.id == signing) }
    }

    private static func person(_ account: String, _ content: AppleMemory.Content) -> AppleControlMessages.Person {
        let teams = Array(content.directory.teams.keys)
        return AppleControlMessages.Person(
            account: account,
            subjects: Dictionary(uniqueKeysWithValues: teams.map { ($0, content.names.subject(account, team: $0)) }),
            relayAddresses: Dictionary(uniqueKeysWithValues: teams.map { ($0, content.names.relayAddress(account, team: $0)) }))
    }

    private static func refreshTokens(_ ledger: AuthorizationLedger) -> [AppleControlMessages.RefreshState] {
        ledger.refreshTokens.sorted { $0.key < $1.key }.map { text, token in
            .init(
                refreshToken: text, account: token.grant.account, clientId: token.grant.client, revoked: token.isRevoked,
                validations: token.validationCount)
        }
    }

    private static func tokens(_ tokens: SharedTokens) -> [AppleControlMessages.TokenState] {
        tokens.records.map { key, record in
            .init(
                account: key.account, bundleId: key.bundleID, environment: key.store, value: record.current.value,
                authorization: record.current.authorization)
        }
    }

    // MARK: Messages

    private func read<Value: Decodable>(
        _ type: Value.Type, _ request: Request, _ act: @Sendable (Value) throws -> Void
    ) async throws -> HTTPResponse.Status {
        let value = try await decode(type, request)
        try checked { try act(value) }
        return .noContent
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
        let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
        return try checked { try SettingsFault.decode(type, from: octets) }
    }

    /// Says what is wrong with a message.
    private func checked<Value>(_ act: () throws -> Value) throws -> Value {
        do {
            return try act()
        } catch let fault as SettingsFault {
            throw HTTPError(.badRequest, message: "\(fault)")
        } catch let fault as KeySetRejection {
            throw HTTPError(.conflict, message: fault.rawValue)
        }
    }

    private static func json(_ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(value))
        return Response(status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
}
