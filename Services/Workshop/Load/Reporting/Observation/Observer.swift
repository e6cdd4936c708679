/// Looks at the loaded service once a second. It reads its metrics, its processor time and memory, and those of its peers, of this program and of the
/// machine.
///
/// An unreadable figure is left out and noted in the observation: a load test does not fail because the service cannot be observed.
public actor Observer {
    private let fetch: @Sendable (String) async throws -> String
    private let metricsURL: String?
    private let interval: Duration
    private let readProcess: @Sendable (Int32) -> ProcessReading?
    private let readMachine: @Sendable () -> MachineReading?
    private var observation = Observation()
    private var tracks: [ProcessTrack]
    private var metrics = MetricTrack()
    private var machine: (time: Double, reading: MachineReading)?
    private var scrapes = (good: 0, failed: 0, unreadable: 0)
    private var lastTrouble = ""
    private var loop: Task<Void, Never>?
    private let origin = ContinuousClock.now
    private var begin: Double?
    /// True when counters are already held against their values of that moment.
    private var hasBegun = false

    /// - Parameters:
    ///   - metricsURL: The service's `/metrics`; `nil`: not scraped.
    ///   - remarks: The figures that are already known to be out of reach.
    ///   - fetch: Gets the text of an address; throws what a person can read when it is answered with anything but success, or too late.
    public init(
        metricsURL: String?, processes: [ObservedProcess], remarks: [String] = [], interval: Duration = .seconds(1),
        fetch: @escaping @Sendable (String) async throws -> String
    ) {
        self.init(
            metricsURL: metricsURL, processes: processes, remarks: remarks, interval: interval, readProcess: { ProcessReading.read($0) },
            readMachine: { MachineReading.read() }, fetch: fetch)
    }

    init(
        metricsURL: String?, processes: [ObservedProcess], remarks: [String], interval: Duration,
        readProcess: @escaping @Sendable (Int32) -> ProcessReading?, readMachine: @escaping @Sendable () -> MachineReading?,
        fetch: @escaping @Sendable (String) async throws -> String
    ) {
        (self.metricsURL, self.interval, self.fetch) = (metricsURL, interval, fetch)
        (self.readProcess, self.readMachine) = (readProcess, readMachine)
        tracks = processes.map { ProcessTrack($0) }
        observation.remarks = remarks
    }

    /// Takes the first sample and goes on until `stop`.
    public func start() async {
        guard loop == nil else { return }
        await sample()
        loop = Task { [interval] in
            var next = ContinuousClock.now + interval
            while !Task.isCancelled {
                do { try await Task.sleep(until: next, clock: .continuous) } catch { return }
                await self.sample()
                next = max(next + interval, .now)
            }
        }
    }

    /// The measured time begins at that moment, which may lie ahead; what was seen before belongs to the warm-up.
    public func begins(at instant: ContinuousClock.Instant = .now) { begin = origin.duration(to: instant) / .seconds(1) }

    /// Takes the last sample.
    public func stop() async -> Observation {
        loop?.cancel()
        await loop?.value
        loop = nil
        await sample()
        let zero = begin ?? 0
        var result = observation
        result.seconds = observation.seconds.map { $0 - zero }
        result.panels = metrics.panels
        result.counters = metrics.counters()
        result.processes = tracks.filter(\.wasSeen).map { track in
            Observation.Process(
                name: track.process.name, pid: track.process.pid, role: track.process.role, cores: track.cores, residentBytes: track.residentBytes)
        }
        result.remarks += remarks
        return result
    }

    private var now: Double { origin.duration(to: .now) / .seconds(1) }

    private func sample() async {
        let text = await scrape()
        // A cancelled scrape at the end is followed by the last sample.
        if Task.isCancelled { return }
        let time = now
        observation.seconds.append(time)
        for index in tracks.indices { tracks[index].add(readProcess(tracks[index].process.pid), at: time) }
        sampleMachine(at: time)
        if !hasBegun, let begin, time >= begin {
            hasBegun = true
            metrics.begin()
        }
        metrics.add(text.map { MetricSnapshot($0.samples, at: time) })
    }

    private func sampleMachine(at time: Double) {
        let reading = readMachine()
        defer { machine = reading.map { (time, $0) } }
        guard let reading, let machine, time > machine.time else {
            observation.machineCores.append(nil)
            observation.stolenCores.append(nil)
            return
        }
        observation.machineCores.append(max(0, reading.busySeconds - machine.reading.busySeconds) / (time - machine.time))
        observation.stolenCores.append(max(0, reading.stolenSeconds - machine.reading.stolenSeconds) / (time - machine.time))
    }

    private func scrape() async -> PrometheusText? {
        guard let metricsURL else { return nil }
        do {
            let text = PrometheusText(try await fetch(metricsURL))
            guard !text.samples.isEmpty else { throw ReportRejection("it holds no metric") }
            scrapes.good += 1
            scrapes.unreadable = max(scrapes.unreadable, text.unreadable)
            return text
        } catch {
            if !Task.isCancelled {
                scrapes.failed += 1
                lastTrouble = "\(error)"
            }
            return nil
        }
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if let metricsURL {
            if scrapes.good == 0 {
                remarks.append("The metrics at \(metricsURL) could not be read: \(lastTrouble).")
            } else if scrapes.failed > 0 {
                remarks.append("\(scrapes.failed) of \(scrapes.good + scrapes.failed) readings of the metrics failed; the last one: \(lastTrouble).")
            }
        }
        if scrapes.unreadable > 0 { remarks.append("Up to \(scrapes.unreadable) lines of the metrics were not understood and are left out.") }
        if metrics.restarts > 0 { remarks.append("Counters of the service went back \(metrics.restarts) times: it started anew while under load.") }
        for track in tracks where !track.wasSeen {
            remarks.append("The process \(track.process.pid) (\(track.process.name)) could not be looked at in /proc.")
        }
        for track in tracks where track.hasEnded { remarks.append("The process \(track.process.pid) (\(track.process.name)) ended during the test.") }
        return remarks
    }
}
