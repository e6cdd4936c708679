@testable internal import AuthorizationService
internal import Faults
internal import MediaRss

/// Resources of a preauthorization, among them Media RSS. Each keeps its bounds, and a list of them is read again as it was. The document that is
/// written of a plain one says the same.
enum MrssTarget {
    @Sendable static func run(_ input: inout Input) {
        let text = String(decoding: input.remainder(), as: UTF8.self)
        guard let resources = try? RequestedResources(text) else {
            _ = try? RequestedResource(text)
            return
        }
        noteTaken()
        let texts = resources.items.map(\.text)
        check(!texts.isEmpty && Set(texts.map { OctetText($0) }).count == texts.count, "a resource is there twice")
        for resource in resources.items { checkOne(resource) }
        check((try? RequestedResources(each: texts))?.items == resources.items, "resources changed on their way")
        check((try? RequestedResources(texts.joined(separator: ",")))?.items == resources.items, "a list of resources changed on its way")
    }

    private static func checkOne(_ resource: RequestedResource) {
        check((1...RequestedResource.largestByteCount).contains(resource.text.utf8.count), "a resource leaves its bounds")
        check((try? RequestedResource(resource.text)) == resource, "a second reading differs")
        check(!resource.channel.isEmpty, "a resource without a channel")
        check(resource.text.utf8.first != UInt8(ascii: "<") || resource.mediaRss != nil, "a document that is none")
        // One of blanks beyond ASCII alone makes a title of nothing.
        let channel = trimmed(resource.channel)
        guard !channel.isEmpty else { return }
        guard let written = MediaRssDocument(MediaRssDocument.text(channel: resource.channel)) else {
            fatalError("a written document cannot be read")
        }
        check(written.channelTitle == channel && written.item == nil && written.rating == nil, "a channel changed on its way")
    }

    private static func trimmed(_ text: String) -> String {
        var slice = text[...]
        while slice.last?.isWhitespace == true { slice.removeLast() }
        return String(slice.drop(while: \.isWhitespace))
    }
}
