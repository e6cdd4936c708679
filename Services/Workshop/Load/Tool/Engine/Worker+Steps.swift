/// Arrivals, and the way of a user through an iteration.
extension Worker {
    /// No iteration will be begun any more.
    var isExhausted: Bool {
        if let limit = settings.iterationLimit, begunMeasured >= limit { return true }
        return settings.loop != .closed && schedule?.next == nil
    }

    // MARK: Beginning

    func beginDue(_ now: Nanoseconds) {
        if settings.loop == .closed { beginUsers(now) } else { beginArrivals(now) }
    }

    private func beginArrivals(_ now: Nanoseconds) {
        // Calls that came due while the others were begun wait for the next call: otherwise a schedule that is too fast would never return.
        while let next = schedule?.next, start + next <= now, !isExhausted {
            schedule?.advance()
            arrive(due: start + next, clock())
        }
        if isExhausted { schedule = nil }
    }

    private func arrive(due: Nanoseconds, _ now: Nanoseconds) {
        let tally = tallyIndex(due)
        interval.due += 1
        interval.longestLag = max(interval.longestLag, now - due)
        if let tally {
            tallies[tally].due += 1
            tallies[tally].lag.record(now - due)
        }
        guard let slot = takeSlot() else {
            interval.dropped += 1
            if let tally { tallies[tally].dropped += 1 }
            return
        }
        begin(slot, due: due, tally, now)
    }

    private func takeSlot() -> Int? {
        let number = begun * settings.workers + settings.index
        if let slot = free.popLast() {
            // The workload's notes of an earlier iteration belonged to another user.
            slots[slot].user = User(number: number, seed: settings.seed)
            return slot
        }
        guard slots.count < settings.maxOutstanding else { return nil }
        slots.append(Slot(user: User(number: number, seed: settings.seed)))
        return slots.count - 1
    }

    /// Closed loop: as many users are made busy as the level says.
    private func beginUsers(_ now: Nanoseconds) {
        guard let usersDue, usersDue <= now else { return }
        wantedUsers = WorkerSettings.part(max(1, Int(settings.plan.level(at: now - start).rounded())), settings.index, settings.workers)
        self.usersDue = isLevelChanging ? now + 50_000_000 : nil
        while slots.count < wantedUsers {
            slots.append(Slot(user: User(number: slots.count * settings.workers + settings.index, seed: settings.seed)))
        }
        for slot in 0..<wantedUsers where !slots[slot].isActive { beginAgain(slot, now) }
    }

    private var isLevelChanging: Bool {
        settings.plan.stages.contains { $0.from != $0.to } || Set(settings.plan.stages.map(\.from)).count > 1
    }

    private func beginAgain(_ slot: Int, _ now: Nanoseconds) {
        guard !hasStopped, !isExhausted, slot < wantedUsers else { return }
        let tally = tallyIndex(now)
        interval.due += 1
        if let tally { tallies[tally].due += 1 }
        begin(slot, due: now, tally, now)
    }

    private func begin(_ slot: Int, due: Nanoseconds, _ tally: Int?, _ now: Nanoseconds) {
        slots[slot].isActive = true
        slots[slot].iterationDue = due
        slots[slot].tally = tally
        activeSlots += 1
        begun += 1
        if tally != nil { begunMeasured += 1 }
        let step = workload.begin(&slots[slot].user)
        slots[slot].user.iteration += 1
        follow(slot, step, due: due, now)
    }

    func tallyIndex(_ due: Nanoseconds) -> Int? {
        guard let stage = settings.plan.stage(at: due - measuredFrom) else { return nil }
        return settings.plan.isRamp ? stage : 0
    }

    // MARK: Going on

    func follow(_ slot: Int, _ step: Step, due: Nanoseconds, _ now: Nanoseconds) {
        switch step {
        case .call(let call):
            guard !hasStopped else { return release(slot) }
            slots[slot].call = call
            slots[slot].due = due
            if waiting.isEmpty, transport.room > 0 { send(slot, now) } else { waiting.append(slot) }
        case .pause(let span):
            guard !hasStopped else { return release(slot) }
            pause(slot, until: due + span)
        case .done, .failed:
            finish(slot, now, isWhole: { if case .done = step { true } else { false } }())
        }
    }

    private func finish(_ slot: Int, _ now: Nanoseconds, isWhole: Bool) {
        if isWhole { interval.iterations += 1 }
        if isWhole, let tally = slots[slot].tally {
            tallies[tally].iterations += 1
            tallies[tally].iterationTime.record(now - slots[slot].iterationDue)
        }
        let madeNoCall = slots[slot].sentAt < slots[slot].iterationDue
        release(slot)
        guard settings.loop == .closed else { return }
        slots[slot].user.place = 0
        // An iteration without a call would be begun again without end.
        if madeNoCall { beginLater(now + 1_000_000) } else { beginAgain(slot, now) }
    }

    func release(_ slot: Int) {
        slots[slot].isActive = false
        activeSlots -= 1
        if settings.loop != .closed { free.append(slot) }
    }

    func resumePaused(_ now: Nanoseconds) {
        while let (due, slot) = pauses.popDue(now) {
            interval.longestLag = max(interval.longestLag, now - due)
            if let tally = slots[slot].tally { tallies[tally].lag.record(now - due) }
            follow(slot, workload.proceed(&slots[slot].user, .none), due: due, now)
        }
    }

    // MARK: Sending

    func sendWaiting(_ now: Nanoseconds) {
        while let slot = waiting.first {
            if slots[slot].due + settings.timeout <= now {
                _ = waiting.popFirst()
                endUnsent(slot, now, "timeout", "The call waited for a connection until its time was over.")
            } else if transport.room > 0 {
                _ = waiting.popFirst()
                send(slot, now)
            } else if transport.openConnections == 0 {
                _ = waiting.popFirst()
                endUnsent(slot, now, "connection_lost", "No connection was open.")
            } else {
                return
            }
        }
    }

    private func send(_ slot: Int, _ now: Nanoseconds) {
        slots[slot].sentAt = now
        let call = slots[slot].call
        interval.sent += 1
        if let tally = slots[slot].tally {
            tallies[tally].sent += 1
            tallies[tally].requestBytes += call.payload.count
            operations[call.operation].sent += 1
        }
        transport.send(call, ticket: slot, now: now, deadline: now + settings.timeout)
    }

    /// A call that could not be sent; the iteration is given up.
    private func endUnsent(_ slot: Int, _ now: Nanoseconds, _ code: String, _ message: String) {
        slots[slot].sentAt = now
        record(slot, now, failure: code, message, 0)
        release(slot)
        // Closed loop: users do not spin while there is no connection.
        slots[slot].user.place = 0
        if settings.loop == .closed { beginLater(now + 100_000_000) }
    }

    private func beginLater(_ moment: Nanoseconds) {
        guard !hasStopped else { return }
        usersDue = min(usersDue ?? .max, moment)
        wantWake(moment)
    }

    // MARK: Recording

    func record(_ slot: Int, _ now: Nanoseconds, failure: String?, _ message: String, _ bytes: Int) {
        let response = now - slots[slot].due
        interval.responseTime.record(response)
        if let failure {
            interval.failed += 1
            interval.errors.record(failure, message)
        } else {
            interval.succeeded += 1
        }
        guard let tally = slots[slot].tally else { return }
        let service = now - slots[slot].sentAt
        tallies[tally].record(response: response, service: service, isFailure: failure != nil, bytes: bytes)
        operations[slots[slot].call.operation].record(response: response, service: service, failure: failure, message)
    }

    /// The events since the last time.
    func takeInterval() -> Interval {
        defer { interval = Interval() }
        interval.outstanding = activeSlots
        interval.connections = transport.openConnections
        return interval
    }
}
