import CommandKit

/// A call of which too many are asked for.
enum OverloadSubject: String, Sendable, CaseIterable {
    /// Cheap, hardly dearer than a refusal: what fills up is the gateway.
    case reads
    /// The same by a client that offers HTTP/2 with each call, as the JDK's does over plain HTTP: each costs a connection.
    case upgrades
    /// Decisions from memory: two services behind the gateway have work.
    case decisions
    /// RSA signatures: what fills up is a service behind the gateway.
    case signatures

    var name: String { "overload \(rawValue)" }

    func path(device: String) -> String {
        let query = "requestor=\(Television.requestor)&deviceId=\(device)"
        return switch self {
        case .reads, .upgrades: "/api/v1/tokens/authn?\(query)"
        case .decisions: "/api/v1/authorize?\(query)&resource=\(Television.resource)"
        case .signatures: "/api/v1/mediatoken?\(query)&resource=\(Television.resource)"
        }
    }

    /// Beside those that every call has.
    var headers: [(String, String)] {
        guard self == .upgrades else { return [] }
        return [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")]
    }

    /// One play gets 120 tokens of the reference form in two minutes (rest-v1 §7).
    private var deviceCount: Int { self == .signatures ? 320 : 64 }

    /// - Parameters:
    ///   - people: Names at the stand-in MVPD, as many at least as there are devices in all rounds.
    ///   - round: From 0; each has devices and people of its own.
    /// - Returns: Devices that may make the call.
    func devices(of app: App, people: [String], round: Int) async throws -> [String] {
        let numbers = round * deviceCount..<(round + 1) * deviceCount
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in numbers {
                if number >= numbers.lowerBound + 8 { try await group.next() }
                group.addTask { try await prepare(app.device(id(number)), app, person: people[number]) }
            }
            try await group.waitForAll()
        }
        return numbers.map(id)
    }

    private func id(_ number: Int) -> String { "overload-\(rawValue)-\(number)" }

    private func prepare(_ device: Television, _ app: App, person: String) async throws {
        switch self {
        case .reads, .upgrades: guard await device.preview().isDone else { throw ChaosFailure("\(name): a device cannot be signed in") }
        case .decisions, .signatures:
            let code = await device.requestCode().answer?.object["code"] as? String
            var person = Person(caller: app.caller, gateway: app.gateway, name: person)
            guard let code, case .signedIn = await person.signIn(code: code, mvpd: "NorthCable"), await device.authorize().isDone else {
                throw ChaosFailure("\(name): a device cannot be signed in and permitted")
            }
        }
    }
}
