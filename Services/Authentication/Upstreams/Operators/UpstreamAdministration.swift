internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import OutboundHttp

/// The operators' questions to upstreams, and their changes to our clients there.
struct UpstreamAdministration: Sendable {
    let line: UpstreamConnection
    let caller: UpstreamCaller
    let store: any UpstreamStore
    let catalogue: any CatalogueSource
    let alarms: UpstreamAlarms
    let clock: any WallClock

    // MARK: How they are

    /// - Throws: Faults of the store and of the catalogue.
    func states(_ request: ListUpstreamStatesRequest) async throws(Fault) -> UpstreamStates {
        let upstreams = try catalogue.current().configuration.upstreams.filter { request.upstream.isEmpty || $0.id == request.upstream }
        var states: [UpstreamState] = []
        for upstream in upstreams { states.append(try await state(upstream)) }
        return UpstreamStates(states: states)
    }

    private func state(_ upstream: BridgeUpstream) async throws(Fault) -> UpstreamState {
        let now = clock.now()
        let holdings = try await store.bridgeHoldings(upstream.id, listsSince: now - upstream.listStale, now: now)
        let open = BridgeOperation.Group.allCases.filter { !line.breakers.isClosed(UpstreamConnection.breaker(upstream.id, $0)) }
        return UpstreamState(
            upstream: upstream.id, clients: UInt32(clamping: holdings.clients), deviceClients: UInt32(clamping: holdings.deviceClients),
            openBreakers: open.map(\.rawValue), callsUnderWay: UInt32(clamping: line.underWay.count(upstream.id)),
            oldestListAtMilliseconds: holdings.oldestList.map { UInt64(clamping: $0.milliseconds) } ?? 0,
            openLogouts: UInt32(clamping: holdings.openLogouts), clockOffsetMilliseconds: line.clocks.offset(of: upstream.id).wholeMilliseconds,
            alarms: alarms.of(upstream.id))
    }

    // MARK: Their lists

    /// - Throws: As the contract says.
    func list(_ request: ReadUpstreamListRequest) async throws(Fault) -> UpstreamList {
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(request.requestor)
        guard let (upstream, bridge) = catalogue.upstream(of: requestor) else { throw Fault(.notFound, "The requestor has no upstream.") }
        guard let entry = upstream.client(requestor: requestor.id, platform: request.platform) else {
            throw Fault(.notFound, "None of the upstream's clients serves the platform.")
        }
        let client = UpstreamClientAt(service: upstream, entry)
        let device = SampleDevice.device("", request.platform)
        let list: BridgedList
        do throws(UpstreamError) {
            list = try await caller.ask(.list(bridge.serviceProvider), by: client, for: device, UpstreamDeadline(upstream.totalTimeout)) {
                answer throws(BridgeFailure) in try BridgedList(answer)
            }
        } catch {
            throw error.fault(clock.now())
        }
        let entries = list.providers.map { provider in
            UpstreamListEntry(
                id: provider.id, displayName: provider.displayName, logoURL: provider.logoURL, isTemporaryPass: provider.isTemporaryPass,
                boardingStatus: provider.boardingStatus, platformMappingID: provider.platformMappingID,
                enablesPlatformServices: provider.enablesPlatformServices, isInPlatformPicker: provider.isInPlatformPicker,
                enforcesPlatformPermissions: provider.enforcesPlatformPermissions)
        }
        return UpstreamList(
            upstream: upstream.id, serviceProvider: bridge.serviceProvider, entries: entries, domains: list.domains, droppedIDs: list.dropped)
    }

    // MARK: Our clients

    /// - Throws: As the contract says.
    func reset(_ request: ResetUpstreamClientRequest) async throws(Fault) -> ResetUpstreamClientResponse {
        guard let upstream = try catalogue.current().upstream(request.upstream) else { throw Fault(.notFound, "There is no such upstream.") }
        let device = try DeviceRules.device(request.deviceID, allowsPlaceholder: false)
        var response = ResetUpstreamClientResponse()
        for entry in upstream.clients {
            let (wasKnown, sessions) = try await caller.slots.reset(UpstreamClientAt(upstream, entry, of: device))
            response.wasKnown = response.wasKnown || wasKnown
            response.sessions += UInt32(clamping: sessions)
            line.metrics.sessionsEnded(.reset, upstream.id, sessions)
        }
        return response
    }
}

extension UpstreamAdministration: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.readUpstreamList) { request, _ in try await list(request) }
        calls.unary(AuthenticationOperationsMethods.listUpstreamStates) { request, _ in try await states(request) }
        calls.unary(AuthenticationOperationsMethods.resetUpstreamClient) { request, _ in try await reset(request) }
    }
}
