internal import Catalogue
internal import Contracts
internal import StrictJson

/// Servers that stand in for MVPDs (bridge §3.1, §3.3).
extension CatalogueReading {
    func upstream(_ value: JsonValue) -> BridgeUpstream? {
        value.object { object in
            var upstream = BridgeUpstream()
            upstream.id = object.newID { upstreams[$0] == nil }
            upstream.kind = object.choice("kind", ["vendor": .vendor, "boxoffice": .boxoffice], else: .vendor)
            upstream.baseURL = object.origin("baseUrl")
            upstream.userAgentBaseURL = object.origin("userAgentBaseUrl", required: false)
            upstream.browserHosts = object.texts("browserHosts") { PlainHTTP.isAllowed($0) ? nil : CatalogueSyntax.domainProblem($0) }
            upstream.clients = clientEntries(object)
            upstream.management = object.optional("management").flatMap { management($0, of: upstream) }
            upstream.clientScope = object.choice("clientScope", ["device": .device, "shared": .shared], else: .device)
            upstream.shards = object.number("shards", 1...4096, else: 64)
            upstream.deviceIDForm = object.choice("deviceIdForm", ["plain": .plain, "sha256": .sha256], else: .plain)
            upstream.leavesDeviceInformation = !object.flag("fillDeviceInfo", else: true)
            upstream.synthesizesPartnerStatus = object.flag("synthesizePartnerStatus")
            upstream.userIDSource = object.choice("userIdSource", ["hmac": .hmac, "attribute": .attribute], else: .hmac)
            upstream.trustAnchors = object.optional("trustAnchors")?.array(certificates.certificate) ?? []
            upstream.clientCertificate = object.text("clientCertificate", required: false)
            upstream.httpVersion = object.choice("protocol", ["http1": .http1, "http2": .http2], else: .http1)
            if upstream.baseURL.lowercased().hasPrefix("http:") {
                for (name, isSaid) in [("clientCertificate", !upstream.clientCertificate.isEmpty), ("protocol", upstream.httpVersion == .http2)]
                where isSaid { warn("has no effect without TLS: baseUrl begins with http://", at: object.path.appending(key: name)) }
            }
            upstream.timeouts = object.part("timeoutsMs", timeouts)
            upstream.limits = object.part("limits", limits)
            upstream.times = object.part("seconds", times)
            if !upstream.id.isEmpty { upstreams[upstream.id] = upstream }
            return upstream
        }
    }

    private func clientEntries(_ object: JsonObject) -> [BridgeClientEntry] {
        guard let value = object.required("clients") else { return [] }
        let entries = value.array(clientEntry)
        if value.isArray, !(1...64).contains(entries.count) { value.problem("must have 1 to 64 elements; it has \(entries.count)") }
        if Set(entries.map { OctetText($0.id) }).count != entries.count { value.problem("must not have two elements of one id") }
        return entries
    }

    private func clientEntry(_ value: JsonValue) -> BridgeClientEntry? {
        value.object { object in
            var entry = BridgeClientEntry()
            entry.id = object.newID { _ in true }
            entry.statementReference = object.text("statementReference")
            if !entry.statementReference.isEmpty, !CatalogueSyntax.isID(entry.statementReference) {
                object.optional("statementReference")?.problem("must be the name of a statement file without '.jws': letters, digits, '_' and '-'")
            }
            entry.requestorIDs = requestorReferences(object)
            let platforms = platforms(object)
            entry.platforms = platforms.count == Self.platforms.count ? [] : platforms
            entry.scope = object.text("scope", required: false)
            if entry.scope.isEmpty { entry.scope = "api:client:v2" }
            if !CatalogueSyntax.isScope(entry.scope) { object.optional("scope")?.problem("must be a scope; it is '\(entry.scope)'") }
            return entry
        }
    }

    /// Ids of requestors, or the word `all`.
    private func requestorReferences(_ object: JsonObject) -> [String] {
        guard let value = object.required("requestors") else { return [] }
        if value.isString {
            if value.string() != "all" { value.problem("must be 'all' or a list of requestors") }
            return []
        }
        let ids = value.array { element -> String? in
            guard let id = element.string() else { return nil }
            bridgedRequestors.append((element, id))
            return id
        }
        if value.isArray, ids.isEmpty { value.problem("must not be empty; 'all' means every requestor") }
        return ids
    }

    private func management(_ value: JsonValue, of upstream: BridgeUpstream) -> BridgeManagement? {
        value.object { object in
            let management = BridgeManagement(baseURL: object.origin("baseUrl"), clientID: object.text("client"))
            if !management.clientID.isEmpty, !upstream.clients.contains(where: { OctetText($0.id) == OctetText(management.clientID) }) {
                object.optional("client")?.problem("names '\(management.clientID)', which is none of the upstream's clients")
            }
            return management
        }
    }

    private func timeouts(_ object: JsonObject?) -> BridgeTimeouts {
        func milliseconds(_ name: String, _ fallback: UInt32) -> UInt32 { object?.number(name, 10...60_000, else: fallback) ?? fallback }
        let timeouts = BridgeTimeouts(
            connectMilliseconds: milliseconds("connect", 1000), listMilliseconds: milliseconds("list", 3000),
            sessionMilliseconds: milliseconds("session", 3000), decisionMilliseconds: milliseconds("decision", 8000),
            totalMilliseconds: milliseconds("total", 9000))
        if timeouts.decisionMilliseconds >= timeouts.totalMilliseconds {
            object?.problem("must have a 'decision' below 'total'; they are \(timeouts.decisionMilliseconds) and \(timeouts.totalMilliseconds)")
        }
        return timeouts
    }

    private func limits(_ object: JsonObject?) -> BridgeLimits {
        func limit(_ name: String, _ range: ClosedRange<UInt32>, _ fallback: UInt32) -> UInt32 {
            object?.number(name, range, else: fallback) ?? fallback
        }
        return BridgeLimits(
            connections: limit("connections", 1...1024, 64), inFlight: limit("inFlight", 1...4096, 256),
            perSecond: limit("perSecond", 1...100_000, 500), devicePerSecond: limit("devicePerSecond", 1...1000, 1),
            deviceBurst: limit("deviceBurst", 1...1000, 8), answerBytes: limit("answerBytes", 4096...16_777_216, 262_144),
            listBytes: limit("listBytes", 4096...67_108_864, 2_097_152))
    }

    private func times(_ object: JsonObject?) -> BridgeTimes {
        func seconds(_ name: String, _ range: ClosedRange<UInt32>, _ fallback: UInt32) -> UInt32 {
            object?.number(name, range, else: fallback) ?? fallback
        }
        let times = BridgeTimes(
            listSeconds: seconds("list", 120...300, 120), listStaleSeconds: seconds("listStale", 121...2_592_000, 604_800),
            profileFreshSeconds: seconds("profileFresh", 10...3600, 300), profileStaleSeconds: seconds("profileStale", 11...2_592_000, 86_400),
            negativeSeconds: seconds("negative", 1...86_400, 600), pollSeconds: seconds("poll", 3...30, 5),
            holdMediaTokenSeconds: seconds("holdMediaToken", 0...300, 60), decisionFreshSeconds: seconds("decisionFresh", 0...300, 60),
            connectionAgeSeconds: seconds("connectionAge", 10...300, 60))
        for (short, long, names) in [
            (times.listSeconds, times.listStaleSeconds, ("list", "listStale")),
            (times.profileFreshSeconds, times.profileStaleSeconds, ("profileFresh", "profileStale")),
        ] where short >= long {
            object?.problem("must have '\(names.0)' below '\(names.1)'; they are \(short) and \(long)")
        }
        return times
    }
}

extension JsonObject {
    fileprivate func origin(_ name: String, required isRequired: Bool = true) -> String {
        guard let value = isRequired ? required(name) : optional(name), let text = value.string() else { return "" }
        if let problem = CatalogueURL.originProblem(text) { value.problem(problem) }
        return text
    }

    /// - Parameter body: Reads the object of that name; without one it gives the defaults.
    fileprivate func part<Part>(_ name: String, _ body: (JsonObject?) -> Part) -> Part {
        optional(name).flatMap { $0.object { body($0) } } ?? body(nil)
    }
}
