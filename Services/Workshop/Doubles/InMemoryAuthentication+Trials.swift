public import Catalogue
internal import Clocks
public import ContractRuntime
public import Contracts
public import Faults
internal import StrictJson
internal import Synchronization
public import Tokens

/// TempPasses: with a session by REST v1, without one by REST v2.
extension InMemoryAuthentication {
    public func spendTempPass(_ request: SpendTempPassRequest, context: CallContext) async throws -> TempPassBalance {
        try requireWorking()
        _ = plays.next()
        guard !request.resource.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        let place = Place(device: request.deviceID, requestor: request.requestor)
        if !request.mvpd.isEmpty { return try spend(request, place) }
        let session = try held(at: place).lazy.compactMap(\.subject.session).first { $0.id == request.sessionID && $0.kind == .tempPass }
        guard let session else { throw Self.nobody }
        guard session.expiresAtMilliseconds > now else { throw Fault(.authenticationSessionExpired, "Authentication token expired") }
        let mvpd = try config.catalogue.requireIntegration(requestor: place.requestor, mvpd: session.mvpd).mvpd
        guard case .tempPass(let terms) = mvpd.signIn else { throw Self.nobody }
        var holder = TrialTable.Holder(place: place, mvpd: mvpd.id)
        if terms.kind == .promotional { holder.user = try Self.user(in: request.genericData, terms, else: .invalidRequest) }
        return balance(try trials.spend(request.resource, of: holder, terms, now: now, since: life(place.requestor, holder.mvpd)), terms)
    }

    private func spend(_ request: SpendTempPassRequest, _ place: Place) throws(Fault) -> TempPassBalance {
        let mvpd = try config.catalogue.requireIntegration(requestor: place.requestor, mvpd: request.mvpd).mvpd
        let terms = try Self.terms(mvpd)
        let holder = try holder(place, mvpd.id, terms, identity: request.genericData)
        do throws(Fault) {
            return balance(try trials.spend(request.resource, of: holder, terms, now: now, since: life(place.requestor, holder.mvpd)), terms)
        } catch {
            throw error.code == .authenticationSessionExpired ? Self.timeIsUp : Self.resourcesAreUp
        }
    }

    private func balance(_ trial: TrialTable.Trial, _ terms: TempPass) -> TempPassBalance {
        let left = terms.kind == .promotional ? UInt32(clamping: max(0, Int(terms.maxResources) - trial.resources.count)) : 0
        return TempPassBalance(expiresAtMilliseconds: trial.expiresAt, remainingResources: left)
    }

    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        try requireWorking()
        let requestor = try config.catalogue.requireRequestor(request.requestor)
        guard !request.mvpd.isEmpty else { throw Fault(.invalidRequest, "Required 'mvpd_id' is not present") }
        let mvpd = try config.catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd).mvpd
        guard case .tempPass = mvpd.signIn else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
        return ResetTempPassResponse(
            trials: UInt32(clamping: trials.forget(request.scope, requestor: requestor.id, mvpd: mvpd.id)))
    }

    // MARK: Without a session

    /// The stand-in for a session at a TempPass; reading it starts no clock.
    func onTrial(_ call: DeviceCall, _ mvpd: Mvpd, identity: String, requiresUser: Bool) throws(Fault) -> (SessionSubject, [MetadataEntry]) {
        let terms = try Self.terms(mvpd)
        let place = Place(device: call.deviceID, requestor: call.requestor)
        var holder = TrialTable.Holder(place: place, mvpd: mvpd.id)
        if requiresUser {
            holder = try self.holder(place, mvpd.id, terms, identity: identity)
        } else if let named = try? self.holder(place, mvpd.id, terms, identity: identity) {
            holder = named
        }
        let moment = now
        let trial = trials.trial(of: holder, since: life(place.requestor, mvpd.id))
        let isPromotional = terms.kind == .promotional
        var subject = standIn(.tempPass, call, mvpd.id, until: trial?.expiresAt ?? moment + UInt64(terms.ttlSeconds) * 1000)
        subject.session?.createdAtMilliseconds = trial?.startedAt ?? moment
        let used = trial?.resources ?? []
        subject.trial = TrialState(
            isOver: trial.map { moment >= $0.expiresAt } ?? false, isUsedUp: isPromotional && used.count >= Int(terms.maxResources))
        var facts = [MetadataEntry(key: "expiration_date", value: .number(Int64(clamping: subject.session?.expiresAtMilliseconds ?? 0)))]
        if isPromotional {
            facts.append(MetadataEntry(key: "remaining_resources", value: .number(Int64(max(0, Int(terms.maxResources) - used.count)))))
            facts.append(MetadataEntry(key: "used_assets", value: .list(TextList(values: used))))
        }
        return (subject, facts)
    }

    /// - Parameter end: Milliseconds since 1970.
    func standIn(_ kind: SessionKind, _ call: DeviceCall, _ mvpd: String, until end: UInt64) -> SessionSubject {
        let moment = now
        let user = Self.user(kind, call.deviceID) ?? ""
        let session = Session(
            id: DerivedIdentity.uuid("stands-in", call.deviceID, call.requestor, mvpd), requestor: call.requestor, mvpd: mvpd, userID: user,
            createdAtMilliseconds: moment, expiresAtMilliseconds: end, kind: kind)
        return SessionSubject(
            session: session, upstreamUserID: user, attributes: [UserAttribute(key: "userID", values: [user])],
            clientID: clientID(call.accessToken), deviceID: call.deviceID, device: call.device, standsIn: true)
    }

    /// The user of a session that no MVPD knows; `nil` for one of a person.
    static func user(_ kind: SessionKind, _ device: String) -> String? {
        let digest = DerivedIdentity.digest("user", device)
        switch kind {
        case .tempPass: return "temppass_" + digest.prefix(32)
        case .degraded: return "95cf93bcd183214a" + digest.prefix(48)
        default: return nil
        }
    }

    static let timeIsUp = Fault(.temporaryAccessDurationLimitExceeded, "The time of the temporary access is over.")
    static let resourcesAreUp = Fault(.temporaryAccessResourcesLimitExceeded, "The resources of the temporary access are used up.")

    private static func terms(_ mvpd: Mvpd) throws(Fault) -> TempPass {
        guard case .tempPass(let terms) = mvpd.signIn, terms.ttlSeconds > 0, terms.kind != .promotional || !terms.userInformationKey.isEmpty else {
            throw Fault(.invalidTemporaryAccessConfiguration, "The TempPass is not configured.")
        }
        return terms
    }

    private func holder(_ place: Place, _ mvpd: String, _ terms: TempPass, identity: String) throws(Fault) -> TrialTable.Holder {
        let isPromotional = terms.kind == .promotional
        return TrialTable.Holder(
            place: place, mvpd: mvpd, user: isPromotional ? try Self.user(in: identity, terms, else: .invalidTemporaryAccessIdentity) : "")
    }

    /// The person whom the JSON object names.
    private static func user(in identity: String, _ terms: TempPass, else code: Fault.Code) throws(Fault) -> String {
        guard case .object(let members) = try? JsonDocument(parsing: Array(identity.utf8)).root.content,
            let member = members.first(where: { $0.name == terms.userInformationKey }), case .string(let user) = member.value.content, !user.isEmpty
        else { throw Fault(code, "The TempPass needs the user's identity.") }
        return user
    }
}

/// Stands in for the config service: serves the configuration that it was given last, to watchers too.
public final class InMemoryConfig: Config {
    private struct State {
        var configuration: Configuration
        var encoded: [UInt8]
        var catalogue: Catalogue
        var watchers: [Int: AsyncThrowingStream<Configuration, any Error>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Mutex<State>
    private let statements: SoftwareStatementIssuer?

    /// - Parameters:
    ///   - configuration: Its `statement_keys` become those of the key.
    ///   - statementKey: Signs software statements; `nil`: none are issued.
    /// - Throws: `invalid_message` when a text of the configuration cannot be encoded.
    public init(_ configuration: Configuration, statementKey: JoseSigningKey? = nil) throws(Fault) {
        var configuration = configuration
        let keys = statementKey.map { SigningKeys(SigningKeyRing(current: $0)) }
        statements = keys.map { SoftwareStatementIssuer(keys: $0, issuer: "boxoffice") }
        if let keys { configuration.statementKeys = keys.keySet.json }
        let encoded = try configuration.serialized()
        state = Mutex(State(configuration: configuration, encoded: encoded, catalogue: Catalogue(configuration)))
    }

    public var configuration: Configuration { state.withLock { $0.configuration } }

    /// The same, with its entries by id.
    public var catalogue: Catalogue { state.withLock { $0.catalogue } }

    /// Replaces the configuration and tells the watchers. The version becomes the next one, the keys of statements stay.
    /// - Throws: `invalid_message` when it cannot be encoded; the old one stays.
    public func publish(_ configuration: Configuration) throws(Fault) {
        var configuration = configuration
        let current = self.configuration
        configuration.version = max(configuration.version, current.version + 1)
        configuration.statementKeys = current.statementKeys
        let encoded = try configuration.serialized()
        let watchers = state.withLock { [configuration] state in
            state.configuration = configuration
            state.encoded = encoded
            state.catalogue = Catalogue(configuration)
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield(configuration) }
    }

    /// Ends every watcher's stream, as a lost connection does.
    public func disconnectWatchers() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish(throwing: Fault(.unavailable, "The service is stopping.", retryAfter: .milliseconds(100))) }
    }

    /// The whole configuration as it goes over the wire.
    var encoded: [UInt8] { state.withLock { $0.encoded } }

    public func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration { configuration }

    public func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Configuration, any Error>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.nextWatcher += 1
            let number = state.nextWatcher
            state.watchers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
            }
            if state.configuration.version != request.knownVersion { continuation.yield(state.configuration) }
        }
        return stream
    }

    public func issueSoftwareStatement(
        _ request: IssueSoftwareStatementRequest, context: CallContext
    ) async throws -> Contracts.SoftwareStatement {
        guard let statements else { throw Fault(.unimplemented, "The double has no key for software statements.") }
        guard let application = catalogue.application(request.applicationID) else {
            throw Fault(.invalidRequest, "The catalogue has no application of that id.")
        }
        guard let softwareID = application.softwareIDs.first else {
            throw Fault(.unapprovedSoftwareStatement, "The application's software statement is revoked.")
        }
        let content = Tokens.SoftwareStatement(softwareID: softwareID, applicationID: application.id, applicationName: application.name)
        return Contracts.SoftwareStatement(statement: try statements.issue(content), softwareID: softwareID)
    }
}
