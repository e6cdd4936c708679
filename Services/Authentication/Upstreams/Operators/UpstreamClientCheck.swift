internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import OutboundHttp

/// Steps 1 to 4: address, client, bearer, lists.
struct UpstreamClientCheck: Sendable {
    private static let titles: [(step: UInt32, title: String)] = [
        (1, "it answers at its address"), (2, "it registers our client"), (3, "it gives the client a bearer"), (4, "it lists what it offers"),
    ]
    private static let mostNames = 5
    /// For client and bearer: the gateway waits for all of the part.
    private static let deadline: Duration = .seconds(4)

    let place: UpstreamCheckers.Place

    func walk(_ check: inout UpstreamCheck) async {
        var steps = UpstreamSteps()
        defer { check.steps = steps.steps }
        guard await reach(&steps, &check) else { return steps.notReached(Array(Self.titles[1...])) }
        guard let client = await register(&steps, &check) else { return steps.notReached(Array(Self.titles[2...])) }
        guard let bearer = await hold(client, &steps) else { return steps.notReached([Self.titles[3]]) }
        // A client that was refused before is worth another attempt.
        await place.checkers.slots.forgive(client)
        await list(bearer, &steps)
    }

    private func reach(_ steps: inout UpstreamSteps, _ check: inout UpstreamCheck) async -> Bool {
        let expected = "an answer without redirect, over a connection that is the name's"
        let answer = await place.probe.ask(.list(place.serviceProvider), bearer: nil, for: nil) { answer throws(BridgeFailure) in answer.status }
        let addresses = await addresses()
        let found = addresses.isEmpty ? "" : " from \(addresses.prefix(Self.mostNames).joined(separator: ", "))"
        guard let status = answer.value else {
            check.isUnreachable = true
            let failure = answer.failure ?? .unreachable(.notSent)
            let isTLS = answer.cause.contains("CERTIFICATE_VERIFY_FAILED")
            if case .unreachable(.noCertificate) = failure {
                steps.failed(1, Self.titles[0].title, expected: expected, seen: answer.cause, advice: UpstreamWords.advice(.list, failure))
                return false
            }
            steps.failed(
                1, Self.titles[0].title, expected: expected,
                seen: isTLS ? "a certificate that does not verify\(found)" : "\(UpstreamWords.seen(failure))\(found)",
                advice: UpstreamWords.advice(.list, isTLS ? .unreachable(.unusable) : failure))
            return false
        }
        guard !(300..<400).contains(status), status < 500 else {
            steps.failed(
                1, Self.titles[0].title, expected: expected, seen: "\(status)\(found)",
                advice: UpstreamWords.advice(.list, status < 500 ? .wrongAddress(status) : .serverError(status)), trace: answer.trace)
            return true
        }
        steps.passed(1, Self.titles[0].title, expected: expected, seen: "\(status)\(found), after \(answer.milliseconds) ms", trace: answer.trace)
        return true
    }

    private func addresses() async -> [String] {
        guard let host = RedirectAddress(place.upstream.baseURL)?.host else { return [] }
        return await GuardedOutbound.addresses(of: host, timeLeft: place.upstream.connectTimeout).map {
            $0.isPublic ? $0.text : "\($0.text) (not public)"
        }
    }

    private func register(_ steps: inout UpstreamSteps, _ check: inout UpstreamCheck) async -> UpstreamClientAt? {
        let title = Self.titles[1].title
        let expected = "a client with the scope \(place.entry.scope.isEmpty ? "api:client:v2" : place.entry.scope)"
        let journey = UpstreamJourney(trace: "", now: place.checkers.clock.now())
        do throws(UpstreamError) {
            let client = try await place.client()
            let slots = place.checkers.slots
            let isKnown = try await slots.known(client).credentials != nil
            if !isKnown { await slots.forgive(client) }
            let outcome = await attempt(client, journey)
            let trace = journey.now.calls.last { $0.operation == .register }?.trace ?? ""
            guard let credentials = try await slots.known(client).credentials else {
                guard case .failure(let trouble) = outcome else { throw .clientLost }
                let (seen, advice) = Self.told(trouble, .register)
                steps.failed(2, title, expected: expected, seen: seen, advice: advice, trace: trace)
                return nil
            }
            steps.passed(
                2, title, expected: expected,
                seen:
                    "\(isKnown ? "the client of an earlier check" : "registered now"), scopes \(credentials.scopes.sorted().joined(separator: " "))",
                trace: trace)
            return client
        } catch {
            let (seen, advice) = Self.told(error, .register)
            steps.failed(2, title, expected: expected, seen: seen, advice: advice)
            return nil
        }
    }

    /// Registers and asks for a bearer, as it is needed.
    private func attempt(_ client: UpstreamClientAt, _ journey: UpstreamJourney) async -> Result<BridgeBearer, UpstreamError> {
        await UpstreamJourney.$current.withValue(journey) {
            do throws(UpstreamError) {
                return .success(try await place.checkers.slots.bearer(client, for: nil, UpstreamDeadline(Self.deadline)))
            } catch {
                return .failure(error)
            }
        }
    }

    private func hold(_ client: UpstreamClientAt, _ steps: inout UpstreamSteps) async -> String? {
        let title = Self.titles[2].title
        let expected = "a bearer that lives for minutes, and a clock that is right to 30 s"
        let journey = UpstreamJourney(trace: "", now: place.checkers.clock.now())
        switch await attempt(client, journey) {
        case .failure(let trouble):
            let (seen, advice) = Self.told(trouble, .token)
            let trace = journey.now.calls.last { $0.operation == .token }?.trace ?? ""
            steps.failed(3, title, expected: expected, seen: seen, advice: advice, trace: trace)
            return nil
        case .success(let bearer):
            let offset = place.checkers.line.clocks.offset(of: place.upstream.id)
            let clock = "its clock is \(abs(offset.components.seconds)) s \(offset < .zero ? "behind" : "ahead of") ours"
            let seen = "a bearer for \(bearer.life.components.seconds) s; \(clock)"
            guard offset <= UpstreamClock.tolerance, offset >= .zero - UpstreamClock.tolerance else {
                steps.failed(
                    3, title, expected: expected, seen: seen,
                    advice: "Compare both clocks with a time server; times of upstream's are read by its clock meanwhile.")
                return bearer.token
            }
            steps.passed(3, title, expected: expected, seen: seen)
            return bearer.token
        }
    }

    private func list(_ bearer: String, _ steps: inout UpstreamSteps) async {
        let title = Self.titles[3].title
        var (known, domains): ([String], [String]) = ([], [])
        var counts: [String] = []
        var dropped: [String] = []
        for platform in place.platforms {
            let answer = await place.probe.ask(.list(place.serviceProvider), bearer: bearer, for: SampleDevice.device("", platform)) {
                answer throws(BridgeFailure) in try BridgedList(answer)
            }
            guard let list = answer.value else {
                return steps.failed(4, title, expected: "a list for \(SampleDevice.word(platform))", .list, answer)
            }
            known += list.providers.map(\.id).filter { id in !known.contains { $0 == id } }
            domains += list.domains.filter { domain in !domains.contains { $0 == domain } }
            dropped += list.dropped
            counts.append("\(SampleDevice.word(platform)) \(list.providers.count)")
        }
        judge(known, domains, counts, dropped, &steps)
    }

    private func judge(
        _ known: [String], _ domains: [String], _ counts: [String], _ dropped: [String], _ steps: inout UpstreamSteps
    ) {
        let title = Self.titles[3].title
        let expected = "a list for each platform with every MVPD and domain of the catalogue's"
        let missing = place.theirMvpds.filter { mvpd in !known.contains { $0 == mvpd } }
        let foreign = place.requestor.domains.map { Self.theirs($0.name, place.bridge) }.filter { ours in
            !domains.contains { Self.lies(ours, below: $0) }
        }
        var seen = ["MVPDs for \(counts.joined(separator: ", "))", "domains \(Self.some(domains))"]
        var advice: [String] = []
        if !missing.isEmpty {
            seen.append("not listed: \(Self.some(missing))")
            advice.append("The MVPDs that are not listed must be integrated upstream, or have another name there (integrations[].upstream).")
        }
        if !domains.isEmpty, !foreign.isEmpty {
            seen.append("not registered: \(Self.some(foreign))")
            advice.append("Logins that begin at a domain which is not registered may be refused: register it upstream, or map it by domainNames.")
        }
        if !dropped.isEmpty { seen.append("left out for their ids: \(Self.some(dropped))") }
        guard !advice.isEmpty else { return steps.passed(4, title, expected: expected, seen: seen.joined(separator: "; ")) }
        steps.failed(4, title, expected: expected, seen: seen.joined(separator: "; "), advice: advice.joined(separator: " "))
    }

    private static func theirs(_ domain: String, _ bridge: RequestorBridge) -> String {
        bridge.domainNames.first { $0.ours == domain }?.theirs ?? domain
    }

    private static func lies(_ domain: String, below other: String) -> Bool {
        let (domain, other) = (domain.lowercased(), other.lowercased())
        return domain == other || domain.hasSuffix("." + other)
    }

    private static func some(_ names: [String]) -> String {
        guard names.count > mostNames else { return names.isEmpty ? "none" : names.joined(separator: ", ") }
        return names.prefix(mostNames).joined(separator: ", ") + " and \(names.count - mostNames) more"
    }

    static func told(_ trouble: UpstreamError, _ operation: BridgeOperation) -> (seen: String, advice: String) {
        switch trouble {
        case .failure(let failure): return (UpstreamWords.seen(failure), UpstreamWords.advice(operation, failure))
        case .wait(.statementRefused(let code, _)):
            let failure = BridgeFailure.refused(BridgeRefusal(status: 0, code: code))
            return (UpstreamWords.seen(failure), UpstreamWords.advice(.register, failure))
        case .wait(.clientsLost): return ("it has lost many of our clients", "They are registered anew one after the other: try again in a minute.")
        case .wait: return ("it refused the client lately", "Try again in a minute.")
        case .resting: return ("it failed so often that it rests", "Try again in half a minute.")
        case .busy: return ("too many calls are under way", "Try again later.")
        case .clientLost:
            return ("it does not know the client", UpstreamWords.advice(.token, .refused(BridgeRefusal(status: 400, code: "invalid_client"))))
        case .store(let fault): return (fault.message, "The service's log has more.")
        }
    }
}

/// A device of each platform, that no viewer has.
enum SampleDevice {
    static let model = "boxoffice-check"

    /// Those that upstream's answers may differ for.
    static let platforms: [Platform] = [.ios, .tvos, .roku, .fireTv, .android, .desktop, .otherMobile, .otherTv]

    static func information(_ platform: Platform) -> DeviceInformation {
        var device = DeviceInformation()
        (device.model, device.version, device.osVersion) = (model, "1", "1")
        switch platform {
        case .ios: (device.type, device.manufacturer, device.osName) = ("MobilePhone", "Apple", "iOS")
        case .tvos: (device.type, device.manufacturer, device.osName) = ("SetTopBox", "Apple", "tvOS")
        case .roku: (device.type, device.manufacturer, device.osName) = ("SetTopBox", "Roku", "Roku OS")
        case .fireTv: (device.type, device.manufacturer, device.osName) = ("SetTopBox", "Amazon", "Android")
        case .android: (device.type, device.osName) = ("MobilePhone", "Android")
        case .desktop: (device.type, device.osName) = ("Desktop", "Windows")
        case .otherMobile: device.type = "MobilePhone"
        case .otherTv, .unknown, .unrecognized: device.type = "TV"
        }
        return device
    }

    static func device(_ id: String, _ platform: Platform) -> BridgeDevice {
        BridgeDevice(id: id, information: information(platform), address: "", port: 0, isSecure: true, userAgent: "")
    }

    /// As the catalogue calls it.
    static func word(_ platform: Platform) -> String {
        switch platform {
        case .ios: "ios"
        case .tvos: "tvos"
        case .roku: "roku"
        case .fireTv: "fireTv"
        case .android: "android"
        case .desktop: "desktop"
        case .otherMobile: "otherMobile"
        case .otherTv: "otherTv"
        case .unknown, .unrecognized: "unidentified"
        }
    }
}
