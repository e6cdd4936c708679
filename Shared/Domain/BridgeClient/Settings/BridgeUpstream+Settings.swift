public import Contracts

/// The settings of an upstream's record, with the defaults where it says nothing (bridge §3.1).
extension BridgeUpstream {
    /// The scope of clients that reset trials, and serve no device.
    public static let resetScope = "temporary:passes:owner"

    /// Whose client serves a requestor's devices of a platform; `nil`: nothing is offered there.
    public func client(requestor: String, platform: Platform?) -> BridgeClientEntry? {
        clients.first { entry in
            entry.scope != Self.resetScope && (entry.requestorIDs.isEmpty || entry.requestorIDs.contains { $0 == requestor })
                && (entry.platforms.isEmpty || platform.map(entry.platforms.contains) ?? false)
        }
    }

    public func client(_ id: String) -> BridgeClientEntry? { clients.first { $0.id == id } }

    /// It wants devices named in this way.
    public var deviceForm: BridgeDeviceForm {
        BridgeDeviceForm(identifier: deviceIDForm == .sha256 ? .digest : .plain, fillsInformation: !leavesDeviceInformation)
    }

    /// Its answers may send a browser here.
    public var browserAddresses: BridgedAddress {
        let origin = userAgentBaseURL.isEmpty ? baseURL : userAgentBaseURL
        let own = baseURL.firstRange(of: "://").map { String(baseURL[$0.upperBound...]).lowercased() }
        return BridgedAddress(origin: origin, hosts: browserHosts + (own.map { [$0] } ?? []))
    }

    public func timeout(_ limit: BridgeOperation.TimeLimit) -> Duration {
        switch limit {
        case .list: Self.milliseconds(timeouts?.listMilliseconds, 3000)
        case .session: Self.milliseconds(timeouts?.sessionMilliseconds, 3000)
        case .decision: Self.milliseconds(timeouts?.decisionMilliseconds, 8000)
        }
    }

    public var connectTimeout: Duration { Self.milliseconds(timeouts?.connectMilliseconds, 1000) }
    /// For all calls that one call of an app needs.
    public var totalTimeout: Duration { Self.milliseconds(timeouts?.totalMilliseconds, 9000) }

    public var connections: Int { Self.number(limits?.connections, 64) }
    public var mostInFlight: Int { Self.number(limits?.inFlight, 256) }
    public var perSecond: Int { Self.number(limits?.perSecond, 500) }
    public var devicePerSecond: Int { Self.number(limits?.devicePerSecond, 1) }
    public var deviceBurst: Int { Self.number(limits?.deviceBurst, 8) }
    /// Octets of an answer.
    public func largestAnswer(_ operation: BridgeOperation) -> Int {
        operation == .list ? Self.number(limits?.listBytes, 2_097_152) : Self.number(limits?.answerBytes, 262_144)
    }

    public var listFresh: Duration { Self.seconds(times?.listSeconds, 120) }
    public var listStale: Duration { Self.seconds(times?.listStaleSeconds, 604_800) }
    public var profileFresh: Duration { Self.seconds(times?.profileFreshSeconds, 300) }
    public var profileStale: Duration { Self.seconds(times?.profileStaleSeconds, 86_400) }
    /// A "nobody" is believed for this long where a token of the call might name somebody.
    public var negative: Duration { Self.seconds(times?.negativeSeconds, 600) }
    public var poll: Duration { Self.seconds(times?.pollSeconds, 5) }
    /// 0: media tokens do not wait.
    public var holdMediaToken: Duration { times.map { .seconds(Int64($0.holdMediaTokenSeconds)) } ?? .seconds(60) }
    public var decisionFresh: Duration { times.map { .seconds(Int64($0.decisionFreshSeconds)) } ?? .seconds(60) }

    /// The age after which a connection takes no further call.
    public var connectionAge: Duration { Self.seconds(times?.connectionAgeSeconds, Int(Self.usualConnectionAge.components.seconds)) }
    /// That of a record which does not say one.
    public static let usualConnectionAge: Duration = .seconds(60)

    private static func number(_ value: UInt32?, _ fallback: Int) -> Int { value.flatMap { $0 == 0 ? nil : Int($0) } ?? fallback }

    private static func milliseconds(_ value: UInt32?, _ fallback: Int) -> Duration { .milliseconds(Int64(number(value, fallback))) }

    private static func seconds(_ value: UInt32?, _ fallback: Int) -> Duration { .seconds(Int64(number(value, fallback))) }
}
