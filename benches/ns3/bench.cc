// ns-3 at its fastest on a network described by benches/network.py. There are no traces, no counters on the packets'
// path and no queue discs. Applications only send and read, and routes come from a table.
//
//   bench --network=FILE [--NAME=VALUE ...]
//
// Options are below, with their defaults. TCP is NewReno with SACK and PRR, an acknowledgement per segment, no timestamps.
// Prints goodput of TCP, drops, delivered datagrams, and `packet_hops`: the packets that have left all devices' queues.
//
// On ns-3's point-to-point links, unlike on those of netlull and ns-2, every packet has a PPP header of 2 bytes. Rates are
// scaled by (packet + 2) / packet, so a full packet takes exactly the same time in all three.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t IP_AND_TCP_HEADERS = 40;
constexpr uint32_t IP_AND_UDP_HEADERS = 28;
constexpr uint32_t PPP_HEADER = 2;
constexpr uint16_t TCP_PORT = 9;
constexpr uint16_t FIRST_UDP_PORT = 1000;

/// The options: times in seconds, sizes in bytes or segments.
struct Options
{
    std::string network;
    double duration = 100;
    uint32_t mss = 1460;
    uint32_t ssthresh = 0; // segments; 0 for none
    uint32_t window = 400; // limit of the send buffer in segments
    uint32_t receiveWindow = 10000;
};

Options options;
uint64_t received = 0;
uint64_t datagrams = 0;

Ipv4Address
AddressOf(uint32_t node)
{
    return Ipv4Address(0x0a000001 + node);
}

/// Routes by table, indexed by the number of the destination.
class TableRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("TableRouting").SetParent<Ipv4RoutingProtocol>();
        return tid;
    }

    uint32_t self = 0;

    void Add(uint32_t destination, Ptr<NetDevice> device, uint32_t next)
    {
        auto route = Create<Ipv4Route>();
        route->SetDestination(AddressOf(destination));
        route->SetSource(AddressOf(self));
        route->SetGateway(AddressOf(next));
        route->SetOutputDevice(device);
        if (m_routes.size() <= destination)
        {
            m_routes.resize(destination + 1);
        }
        m_routes[destination] = route;
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header& header, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        Ptr<Ipv4Route> route = Find(header.GetDestination());
        error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
        return route;
    }

    bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> from,
                    UnicastForwardCallback forward, MulticastForwardCallback, LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        if (header.GetDestination() == AddressOf(self))
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(from));
            return true;
        }
        Ptr<Ipv4Route> route = Find(header.GetDestination());
        if (!route)
        {
            return false;
        }
        forward(route, packet, header);
        return true;
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    Ptr<Ipv4Route> Find(Ipv4Address address) const
    {
        const uint32_t destination = address.Get() - AddressOf(0).Get();
        return destination < m_routes.size() ? m_routes[destination] : nullptr;
    }

    std::vector<Ptr<Ipv4Route>> m_routes;
    Ptr<Ipv4> m_ipv4;
};

class TableRoutingHelper : public Ipv4RoutingHelper
{
  public:
    TableRoutingHelper* Copy() const override
    {
        return new TableRoutingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override
    {
        auto routing = CreateObject<TableRouting>();
        routing->self = node->GetId();
        return routing;
    }
};

TableRouting&
RoutingOf(uint32_t node)
{
    auto ipv4 = NodeList::GetNode(node)->GetObject<Ipv4>();
    return *DynamicCast<TableRouting>(ipv4->GetRoutingProtocol());
}

/// Sends `left` bytes over a connection of its own, then closes it.
class Transfer : public SimpleRefCount<Transfer>
{
  public:
    Transfer(uint64_t bytes)
        : m_left(bytes)
    {
    }

    void Start(uint32_t from, uint32_t to)
    {
        m_socket = Socket::CreateSocket(NodeList::GetNode(from), TcpSocketFactory::GetTypeId());
        m_socket->Bind();
        Ptr<Transfer> self(this);
        m_socket->SetConnectCallback(MakeCallback(&Transfer::OnConnect, self), MakeNullCallback<void, Ptr<Socket>>());
        m_socket->SetSendCallback(MakeCallback(&Transfer::OnRoom, self));
        m_socket->Connect(InetSocketAddress(AddressOf(to), TCP_PORT));
    }

  private:
    void OnConnect(Ptr<Socket>)
    {
        m_connected = true;
        Fill();
    }

    void OnRoom(Ptr<Socket>, uint32_t)
    {
        if (m_connected)
        {
            Fill();
        }
    }

    void Fill()
    {
        while (m_left > 0)
        {
            const uint32_t size = std::min<uint64_t>(m_left, options.mss);
            if (m_socket->GetTxAvailable() < size || m_socket->Send(Create<Packet>(size)) < 0)
            {
                return;
            }
            m_left -= size;
        }
        m_connected = false;
        m_socket->Close();
    }

    Ptr<Socket> m_socket;
    uint64_t m_left;
    bool m_connected = false;
};

void
OnData(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        received += packet->GetSize();
    }
}

void
OnPeerClosed(Ptr<Socket> socket)
{
    socket->Close();
}

void
OnAccept(Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeCallback(&OnData));
    socket->SetCloseCallbacks(MakeCallback(&OnPeerClosed), MakeCallback(&OnPeerClosed));
}

void
OnDatagram(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
        ++datagrams;
    }
}

void
SendDatagram(Ptr<Socket> socket, uint32_t size, Time interval)
{
    socket->Send(Create<Packet>(size));
    Simulator::Schedule(interval, &SendDatagram, socket, size, interval);
}

/// Builds the network from the lines of the file.
class Builder
{
  public:
    void Nodes(std::istream& line)
    {
        uint32_t count = 0;
        line >> count;
        NodeContainer nodes(count);
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(TableRoutingHelper());
        stack.Install(nodes);
        m_devices.resize(count);
        m_listens.resize(count);
    }

    void Link(std::istream& line)
    {
        uint32_t one = 0;
        uint32_t other = 0;
        uint32_t limit = 0;
        double rate = 0;
        double delay = 0;
        line >> one >> other >> rate >> delay >> limit;
        const double packet = options.mss + IP_AND_TCP_HEADERS;
        PointToPointHelper helper;
        helper.DisableFlowControl();
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(std::llround(rate * (packet + PPP_HEADER) / packet))));
        helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(std::llround(delay * 1e9))));
        // The device takes a packet from its queue before it sends it: `MaxSize` does not include that packet.
        const QueueSize most(QueueSizeUnit::PACKETS, limit ? limit : 100000000);
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(most));
        const NetDeviceContainer ends = helper.Install(NodeList::GetNode(one), NodeList::GetNode(other));
        Attach(one, other, ends.Get(0));
        Attach(other, one, ends.Get(1));
    }

    void Route(std::istream& line)
    {
        uint32_t from = 0;
        uint32_t to = 0;
        uint32_t next = 0;
        line >> from >> to >> next;
        RoutingOf(from).Add(to, m_devices[from].at(next), next);
    }

    void Tcp(std::istream& line)
    {
        uint32_t from = 0;
        uint32_t to = 0;
        double start = 0;
        line >> from >> to >> start;
        Listen(to);
        Begin(from, to, start, UINT64_MAX);
    }

    void Cbr(std::istream& line)
    {
        uint32_t from = 0;
        uint32_t to = 0;
        uint32_t size = 0;
        double rate = 0;
        double start = 0;
        line >> from >> to >> rate >> size >> start;
        const uint16_t port = FIRST_UDP_PORT + m_streams++;
        Ptr<Socket> target = Socket::CreateSocket(NodeList::GetNode(to), UdpSocketFactory::GetTypeId());
        target->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        target->SetRecvCallback(MakeCallback(&OnDatagram));
        Ptr<Socket> source = Socket::CreateSocket(NodeList::GetNode(from), UdpSocketFactory::GetTypeId());
        source->Connect(InetSocketAddress(AddressOf(to), port));
        const Time interval = NanoSeconds(std::llround(8e9 * size / rate));
        Simulator::Schedule(Seconds(start), &SendDatagram, source, size - IP_AND_UDP_HEADERS, interval);
    }

    void Web(std::istream& line)
    {
        line >> m_webFrom >> m_webTo;
        Listen(m_webTo);
    }

    void Request(std::istream& line)
    {
        double time = 0;
        uint64_t size = 0;
        line >> time >> size;
        Begin(m_webFrom, m_webTo, time, size);
    }

    /// The packet-hops: packets times links already crossed.
    uint64_t PacketHops() const
    {
        uint64_t hops = 0;
        for (const auto& queue : m_queues)
        {
            hops += queue->GetTotalReceivedPackets() - queue->GetNPackets();
        }
        return hops;
    }

    uint64_t Drops() const
    {
        uint64_t drops = 0;
        for (const auto& queue : m_queues)
        {
            drops += queue->GetTotalDroppedPackets();
        }
        return drops;
    }

  private:
    void Attach(uint32_t node, uint32_t neighbour, Ptr<NetDevice> device)
    {
        auto ipv4 = NodeList::GetNode(node)->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(AddressOf(node), Ipv4Mask::GetOnes()));
        ipv4->SetUp(interface);
        m_devices[node][neighbour] = device;
        m_queues.push_back(DynamicCast<PointToPointNetDevice>(device)->GetQueue());
    }

    void Listen(uint32_t node)
    {
        if (m_listens[node])
        {
            return;
        }
        m_listens[node] = Socket::CreateSocket(NodeList::GetNode(node), TcpSocketFactory::GetTypeId());
        m_listens[node]->Bind(InetSocketAddress(Ipv4Address::GetAny(), TCP_PORT));
        m_listens[node]->Listen();
        m_listens[node]->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&OnAccept));
    }

    static void Begin(uint32_t from, uint32_t to, double start, uint64_t bytes)
    {
        Simulator::Schedule(Seconds(start), &Transfer::Start, Create<Transfer>(bytes), from, to);
    }

    std::vector<std::map<uint32_t, Ptr<NetDevice>>> m_devices;
    std::vector<Ptr<Socket>> m_listens;
    std::vector<Ptr<Queue<Packet>>> m_queues;
    uint16_t m_streams = 0;
    uint32_t m_webFrom = 0;
    uint32_t m_webTo = 0;
};

void
ConfigureTcp()
{
    const uint32_t mss = options.mss;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    if (options.ssthresh)
    {
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(options.ssthresh * mss));
    }
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(100));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.window * mss));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.receiveWindow * mss));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(0.2)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(true));
    // ns-3 searches endpoints in a list, which those in TIME-WAIT (twice this, in seconds) would fill.
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0.5));
    Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(false));
}

void
Build(Builder& builder)
{
    std::ifstream file(options.network);
    NS_ABORT_MSG_IF(!file, options.network << ": cannot be read");
    const std::map<std::string, void (Builder::*)(std::istream&)> entries = {
        {"nodes", &Builder::Nodes}, {"link", &Builder::Link}, {"route", &Builder::Route}, {"tcp", &Builder::Tcp},
        {"cbr", &Builder::Cbr},     {"web", &Builder::Web},   {"request", &Builder::Request},
    };
    for (std::string text; std::getline(file, text);)
    {
        std::istringstream line(text);
        std::string what;
        line >> what;
        (builder.*entries.at(what))(line);
    }
}

} // namespace

int
main(int argc, char** argv)
{
    CommandLine command(__FILE__);
    command.AddValue("network", "file of benches/network.py", options.network);
    command.AddValue("duration", "s", options.duration);
    command.AddValue("mss", "bytes of data in a segment", options.mss);
    command.AddValue("ssthresh", "initial ssthresh in segments, 0 for none", options.ssthresh);
    command.AddValue("window", "limit of the send buffer in segments", options.window);
    command.Parse(argc, argv);
    ConfigureTcp();
    Builder builder;
    Build(builder);
    Simulator::Stop(Seconds(options.duration));
    Simulator::Run();
    std::printf("goodput_bps %.1f\n", 8.0 * received / options.duration);
    std::printf("drops %lu\n", builder.Drops());
    std::printf("datagrams %lu\n", datagrams);
    std::printf("packet_hops %lu\n", builder.PacketHops());
    Simulator::Destroy();
    return 0;
}
